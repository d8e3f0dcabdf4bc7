// SPDX-License-Identifier: BSD-3-Clause
// A plan: a call that is ready to run again and again, with other vectors of the same lengths.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "threads/executor/executor.hpp"
#include "threads/executor/program.hpp"

namespace trefoil {

/// Owns all that `call` points at, but for the vectors. Stays where it is. Calls in flight share
/// it, so that it may be forgotten meanwhile.
struct Plan : std::enable_shared_from_this<Plan> {
    Plan() = default;
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    std::vector<std::shared_ptr<const Program>> programs;  ///< shared with plans like it
    std::vector<CallSegment> segments;                     ///< none: the call has nothing to do
    Call call;                                             ///< without vectors
    std::string text;                                      ///< the call in words
    std::shared_ptr<const UserOperation> user;
    bool small = false;  ///< it runs in the communicator's lane for small calls
};

}  // namespace trefoil
