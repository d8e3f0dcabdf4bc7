// SPDX-License-Identifier: BSD-3-Clause
// The recursion, step by step, and the way back through it.
#include "algorithms/rewiring/optimum.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace trefoil {

namespace {

struct Score {
    double seconds = 0;
    int changes = 0;

    /// Sums of the same terms in another order differ in the last digits.
    bool better_than(const Score& other) const {
        if (std::isinf(seconds) || std::isinf(other.seconds)) {
            return seconds < other.seconds;
        }
        const double apart = seconds - other.seconds;
        if (std::abs(apart) > 1e-12 * (seconds + other.seconds)) {
            return apart < 0;
        }
        return changes < other.changes;
    }
    Score after_change(double change) const { return {seconds + change, changes + 1}; }
};

std::size_t best_of(const std::vector<Score>& scores) {
    std::size_t best = 0;
    for (std::size_t g = 1; g < scores.size(); ++g) {
        if (scores[g].better_than(scores[best])) {
            best = g;
        }
    }
    return best;
}

}  // namespace

WiringSequence cheapest_sequence(std::size_t steps, std::size_t wirings, const StepSeconds& cost,
                                 const ChangeCosts& changes) {
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<Score> best(wirings, Score{changes.free_start ? 0 : never, 0});
    best[0] = {};
    std::vector<std::vector<std::uint32_t>> before(steps, std::vector<std::uint32_t>(wirings));
    for (std::size_t i = 0; i < steps; ++i) {
        const std::size_t cheapest = best_of(best);
        const Score changed = best[cheapest].after_change(changes.change);
        for (std::size_t g = 0; g < wirings; ++g) {
            const bool stays = !changed.better_than(best[g]);
            before[i][g] = static_cast<std::uint32_t>(stays ? g : cheapest);
            best[g] = stays ? best[g] : changed;
            best[g].seconds += cost(i, g);
        }
    }
    if (changes.give_back) {
        for (std::size_t g = 1; g < wirings; ++g) {
            best[g] = best[g].after_change(changes.change);
        }
    }
    std::size_t at = best_of(best);
    WiringSequence result{best[at].seconds, best[at].changes, std::vector<std::size_t>(steps)};
    for (std::size_t i = steps; i-- > 0;) {
        result.wirings[i] = at;
        at = before[i][at];
    }
    return result;
}

}  // namespace trefoil
