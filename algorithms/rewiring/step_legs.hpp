// SPDX-License-Identifier: BSD-3-Clause
// What the ranks send in each step of a schedule, cut into legs along one dimension each.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Where both ways round a ring are equally long.
enum class Tie : std::uint8_t {
    both,  ///< half of the bytes each way
    one    ///< all of them the way of the message's port
};

/// A message, or what of it runs along one dimension. Routes take the dimensions in ascending
/// order.
struct Leg {
    Rank from = 0;
    Rank to = 0;        ///< differs from `from` in this dimension alone
    Port port;          ///< of the message
    double share = 0;   ///< of the vector
    bool split = true;  ///< on a tie half each way; else the way of `port`, '+' in other dimensions
};

/// What all ranks send in one step, all parts together.
struct StepLegs {
    int step = 0;                        ///< its number in the schedule
    std::vector<std::vector<Leg>> legs;  ///< by dimension
    /// No message crosses more than one dimension.
    bool straight = true;
    /// Of messages that do: how far they go in each dimension (0 .. size - 1, in the sense of '+').
    std::set<std::vector<Rank>> displacements = {};
    /// Of one that is not straight: a message that crosses several dimensions.
    Rank crossing_from = 0, crossing_to = 0;
};

/// The steps in which anybody sends, in order. Builds one rank's schedule after the other. Throws
/// Error(unsupported) for algorithms that read their peers' memory, whose reads are no messages.
std::vector<StepLegs> legs_of(const Torus& torus, const Algorithm& algorithm,
                              const BuildOptions& options, Tie tie);

}  // namespace trefoil
