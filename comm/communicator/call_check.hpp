// SPDX-License-Identifier: BSD-3-Clause
// TREFOIL_CHECK: whole calls are compared among all ranks before anything of them moves.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/plan/request.hpp"

namespace trefoil {

/// Compares what the ranks are about to do, by collectives of the communicator itself. For
/// debugging: each call becomes two or three. All ranks return, or all throw the same and can go on
/// with the next call.
class CallCheck {
  public:
    /// Runs a collective of bytes that all ranks make alike; `send` and `recv` may be equal.
    using Run = std::function<void(const Request&, const void* send, void* recv)>;

    CallCheck(Rank rank, Rank ranks, Run run) : rank_(rank), ranks_(ranks), run_(std::move(run)) {}

    /// `call`: in words, all that must be equal; of what is too long for the exchange the end
    /// becomes a number. Throws Error(mismatch): who makes which call.
    void compare(const std::string& call) const;
    /// Whether each rank expects of each other one, or of each neighbour, as many elements as that
    /// one sends. Throws Error(mismatch): which pairs differ.
    void compare_pairs(const Request& request) const;

  private:
    std::vector<std::string> allgather(const std::string& text) const;

    Rank rank_;
    Rank ranks_;
    Run run_;
};

/// All of a request that must be equal on all ranks, in words: collective, counts, type, operation,
/// root, in place.
std::string compared_text(const Request& request);

}  // namespace trefoil
