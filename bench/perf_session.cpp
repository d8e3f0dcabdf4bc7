// SPDX-License-Identifier: BSD-3-Clause
// The C interface with errors thrown, and reductions of the ranks' figures.
#include "bench/perf_session.hpp"

#include <array>

#include "topo/error.hpp"

namespace trefoil::tool {

void require_success(trefoil_status_t status) {
    if (status != TREFOIL_SUCCESS) {
        const std::string message = trefoil_last_error(nullptr);
        throw Error(static_cast<Status>(status),
                    message.empty() ? trefoil_status_string(status) : message);
    }
}

Session::Session(const trefoil_config_t& config) {
    require_success(trefoil_comm_create(&config, &comm_));
    try {
        require_success(trefoil_comm_rank(comm_, &rank_));
        torus_ = read_torus();
    } catch (...) {
        trefoil_comm_destroy(comm_);
        throw;
    }
}

Session::~Session() {
    trefoil_comm_destroy(comm_);
}

std::pair<std::string, std::string> Session::transport() const {
    const char* backend = nullptr;
    const char* provider = nullptr;
    require_success(trefoil_comm_transport(comm_, &backend, &provider));
    return {backend, provider};
}

Torus Session::read_torus() const {
    int dimensions = 0;
    require_success(trefoil_comm_torus(comm_, &dimensions, nullptr, 0));
    std::vector<int> sizes(dimensions);
    require_success(trefoil_comm_torus(comm_, &dimensions, sizes.data(), dimensions));
    return Torus({sizes.begin(), sizes.end()});
}

void Session::set_algorithm(const std::string& name) {
    require_success(trefoil_comm_set_algorithm(comm_, "allreduce", name.c_str()));
}

std::string Session::algorithm(Collective collective, std::size_t count, DataType type) const {
    const char* name = "";
    require_success(trefoil_comm_algorithm(comm_, std::string(to_string(collective)).c_str(), count,
                                           static_cast<trefoil_datatype_t>(type), &name));
    return name;
}

void Session::allreduce(const void* send, void* recv, std::size_t count, DataType type,
                        Operation op) {
    require_success(trefoil_allreduce(send, recv, count, static_cast<trefoil_datatype_t>(type),
                                      static_cast<trefoil_op_t>(op), comm_));
}

void Session::barrier() {
    require_success(trefoil_barrier(comm_));
}

void Session::maximize(std::vector<double>& values) {
    set_algorithm("auto");
    allreduce(TREFOIL_IN_PLACE, values.data(), values.size(), DataType::float64, Operation::max);
}

std::int64_t Session::total(std::int64_t value) {
    set_algorithm("auto");
    allreduce(TREFOIL_IN_PLACE, &value, 1, DataType::int64, Operation::sum);
    return value;
}

bool Session::equal_everywhere(std::uint64_t value) {
    set_algorithm("auto");
    std::array<std::uint64_t, 2> extremes{value, ~value};  // the largest, and not the smallest
    allreduce(TREFOIL_IN_PLACE, extremes.data(), extremes.size(), DataType::uint64, Operation::max);
    return extremes[0] == ~extremes[1];
}

}  // namespace trefoil::tool
