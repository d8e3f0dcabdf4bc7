// SPDX-License-Identifier: BSD-3-Clause
// One call of any collective, type and operation, which is begun now and checked when it has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/perf/call.hpp"
#include "bench/perf/role.hpp"
#include "collective_check.hpp"

namespace trefoil::test {

/// Of operands that are in the order of the ranks.
enum class Result : std::uint8_t { sum, min, max, average, first };

/// What reduces, and what it makes: one of Trefoil's own, or one that trefoil_op_create has made
/// for elements of int64.
struct Operation {
    trefoil_op_t op = TREFOIL_SUM;
    Result result = Result::sum;
    bool is_created() const { return op >= TREFOIL_OP_CREATED; }
};

/// A call's buffers, between guards, with numbers whose result is known.
class CallInFlight {
  public:
    /// `what` as in check_collective(), but for the algorithm, which is the communicator's. `type`:
    /// a number, no pair; where a created operation reduces, int64. Fills the buffers.
    CallInFlight(trefoil_comm_t comm, CollectiveCase what, trefoil_datatype_t type,
                 const Operation& operation);
    CallInFlight(const CallInFlight&) = delete;
    CallInFlight& operator=(const CallInFlight&) = delete;

    trefoil_status_t begin(trefoil_request_t* request) const;
    trefoil_status_t prepare(trefoil_request_t* request) const;  ///< a persistent request
    /// With other numbers, for the next start of a persistent call.
    void fill(std::int64_t salt);
    /// "" or what is wrong with the result.
    std::string check() const;
    std::string text() const;

  private:
    void set_arguments();
    template <typename T>
    void fill_as();
    template <typename T>
    std::string check_as() const;
    template <typename T>
    T expected(const tool::RoleRange& range, std::size_t i) const;
    template <typename Visit>
    auto with_type(Visit&& visit) const;
    std::byte* buffer(tool::Buffer which);
    const std::byte* buffer(tool::Buffer which) const;

    trefoil_comm_t comm_;
    CollectiveCase what_;
    trefoil_datatype_t type_;  ///< of the numbers
    Result result_;
    std::size_t element_bytes_ = 0;
    tool::RankCall rank_call_;
    tool::Role role_;
    std::vector<std::byte> send_, recv_;
    tool::CollectiveCall call_;
};

}  // namespace trefoil::test
