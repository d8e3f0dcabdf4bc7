// SPDX-License-Identifier: BSD-3-Clause
// The cheapest sequence of wirings: a dynamic programme over what each step costs on each of them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace trefoil {

/// What a change of wiring costs, and where a sequence begins and ends. Wiring 0 is the machine as
/// it stands.
struct ChangeCosts {
    double change = 0;  ///< seconds, of each change
    bool free_start =
        false;  ///< the first wiring is there already, whichever it is; else wiring 0 is
    bool give_back = false;  ///< in the end wiring 0 must be there again
};

struct WiringSequence {
    double seconds = 0;
    int changes = 0;                   ///< that were paid for, the last one to wiring 0 among them
    std::vector<std::size_t> wirings;  ///< by step
};

/// Seconds of a step on a wiring; infinite: it cannot run there.
using StepSeconds = std::function<double(std::size_t step, std::size_t wiring)>;

/// best_i(G) = cost_i(G) + min over H of best_{i-1}(H) + (G == H ? 0 : change). Of equally cheap
/// sequences one with the fewest changes, then one whose last wirings have the lowest numbers.
/// Infinite seconds: there is none. Time and memory: steps x wirings. Pure.
WiringSequence cheapest_sequence(std::size_t steps, std::size_t wirings, const StepSeconds& cost,
                                 const ChangeCosts& changes);

}  // namespace trefoil
