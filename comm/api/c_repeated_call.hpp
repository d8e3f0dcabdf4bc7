// SPDX-License-Identifier: BSD-3-Clause
// Calls that are made again and again with the same arguments are checked once.
#pragma once

#include <cstddef>

#include "comm/communicator/communicator.hpp"
#include "comm/plan/request.hpp"
#include "topo/device_memory.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::c_api {

/// As the communicator wants them: in place spelt out, null where the rank brings or takes nothing.
struct Buffers {
    const void* send = nullptr;
    void* recv = nullptr;
};

/// The arguments of a call without lists, as the caller wrote them.
struct Arguments {
    Collective collective = Collective::barrier;
    trefoil_datatype_t datatype = TREFOIL_INT8;
    trefoil_op_t op = TREFOIL_SUM;
    int root = 0;
    std::size_t count = 0;
    const void* send = nullptr;
    const void* recv = nullptr;

    friend bool operator==(const Arguments&, const Arguments&) = default;
};

/// The last blocking call whose arguments were found right, and what they mean: that depends on
/// nothing but them, the communicator's shape and rank. Not so an operation of the user's, which
/// can be freed, and where a pointer may be a device's. By the thread that is in the communicator.
class RepeatedCall {
  public:
    /// Null: to be checked.
    const Request* find(const Arguments& asked) const {
        return known_ && asked == arguments_ && !may_be_device_memory() ? &request_ : nullptr;
    }
    const Buffers& buffers() const { return buffers_; }
    Communicator::FoundPlan& plan() { return plan_; }
    void keep(const Arguments& asked, const Request& checked, const Buffers& buffers) {
        known_ = checked.user == nullptr && !may_be_device_memory();
        if (known_) {
            arguments_ = asked;
            request_ = checked;
            buffers_ = buffers;
            plan_ = {};
        }
    }

  private:
    static bool may_be_device_memory() {
        return detail::device_runtime_found.load(std::memory_order_acquire);
    }

    bool known_ = false;
    Arguments arguments_;
    Request request_;
    Buffers buffers_;
    Communicator::FoundPlan plan_;
};

}  // namespace trefoil::c_api
