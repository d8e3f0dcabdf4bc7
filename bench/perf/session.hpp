// SPDX-License-Identifier: BSD-3-Clause
// One rank's communicator during a measurement, with errors thrown, and the few reductions that
// bring the ranks' figures together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/perf/call.hpp"
#include "threads/kernels/reduce.hpp"
#include "topo/torus.hpp"

namespace trefoil::tool {

/// Throws Error with the library's own message when `status` is not success.
void require_success(trefoil_status_t status);

class Session {
  public:
    explicit Session(const trefoil_config_t& config);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    trefoil_comm_t handle() const { return comm_; }
    Rank rank() const { return rank_; }
    const Torus& torus() const { return torus_; }
    /// In the torus, in the order of trefoil_neighbor_alltoall.
    std::vector<Rank> neighbours() const { return neighbours_of(comm_); }
    /// Who has decided on the torus.
    std::string torus_source() const;
    /// What carries the data; the provider is empty where the backend has only one.
    std::string backend() const { return transport().first; }
    std::string provider() const { return transport().second; }

    trefoil_resources_t resources() const;
    /// What calls have sent through a port.
    trefoil_port_t sent(Port port) const;

    /// "auto" leaves what TREFOIL_ALGORITHM says, where the configuration does.
    void set_algorithm(Collective collective, const std::string& name);
    void set_schedule(Collective collective, const std::string& json);
    /// The algorithm that a call would use now.
    std::string algorithm(Collective collective, std::size_t count, DataType type,
                          bool vector_variant = false) const;
    void call(const CollectiveCall& call) { require_success(call_collective(comm_, call)); }
    // The same as a request; see requests.h.
    void begin(const CollectiveCall& call, trefoil_request_t* request) {
        require_success(begin_collective(comm_, call, request));
    }
    void prepare(const CollectiveCall& call, trefoil_request_t* request) {
        require_success(prepare_collective(comm_, call, request));
    }
    /// Does nothing; commutes, as the built-in operations do, so that the schedule stays the same.
    trefoil_op_t no_arithmetic(std::size_t element_bytes);
    void barrier();

    // Over all ranks, by the default algorithm; they change which one is set for allreduce.
    void maximize(std::vector<double>& values);
    std::int64_t total(std::int64_t value);
    bool equal_everywhere(std::uint64_t value);

  private:
    Torus read_torus() const;
    void reduce_here(void* values, std::size_t count, DataType type, Operation operation);
    std::pair<std::string, std::string> transport() const;

    bool by_environment_;  ///< TREFOIL_ALGORITHM decides what is not told
    trefoil_comm_t comm_ = nullptr;
    std::map<std::size_t, trefoil_op_t> idle_operations_;  ///< by the bytes of an element
    int rank_ = 0;
    Torus torus_{{1}};
};

}  // namespace trefoil::tool
