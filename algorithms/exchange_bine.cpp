// SPDX-License-Identifier: BSD-3-Clause
// The complete exchange on a ring of a power of two as the butterfly of a Bine reduce-scatter whose
// blocks are kept apart. De Sensi et al., Bine trees, SC 2025, section 4.
//
// In step k even coordinates meet c + rho(k), odd ones c - rho(k): rho = 1, -1, 3, -5, 11, ...
// Everybody hands over what is for those whom the other, but not itself, still reaches in later
// steps. log2 n steps with n/2 pairs each; even coordinates send one way round, odd ones the other.
#include "algorithms/exchange_table.hpp"
#include "algorithms/halving_ring.hpp"

namespace trefoil {

namespace {

Rank partner(Rank coordinate, int step, Rank size) {
    const std::int64_t distance =
        coordinate % 2 == 0 ? swing_distance(step) : -swing_distance(step);
    return static_cast<Rank>(((coordinate + distance) % size + size) % size);
}

/// Bit k of [c]: a pair from 0 for c moves in step k. (From another even coordinate it is the same
/// for the same distance, and mirrored from an odd one.)
std::vector<std::uint32_t> routes_from_zero(Rank size) {
    std::vector<std::uint32_t> routes(size, 0);
    for (std::uint32_t route = 0; route < static_cast<std::uint32_t>(size); ++route) {
        Rank at = 0;
        for (int step = 0; step < halving_steps(size); ++step) {
            at = (route >> step & 1U) != 0 ? partner(at, step, size) : at;
        }
        routes[at] = route;
    }
    return routes;
}

}  // namespace

RingSteps bine_steps(Rank size) {
    const std::vector<std::uint32_t> routes = routes_from_zero(size);
    RingSteps steps(halving_steps(size));
    for (Rank source = 0; source < size; ++source) {
        for (Rank target = 0; target < size; ++target) {
            const int sense = source % 2 == 0 ? 1 : -1;
            const std::uint32_t route = routes[(sense * (target - source) % size + size) % size];
            Rank at = source;
            for (std::size_t step = 0; step < steps.size(); ++step) {
                if ((route >> step & 1U) != 0) {
                    const auto distance = static_cast<int>(swing_distance(static_cast<int>(step)));
                    steps[step].moves.push_back(
                        {at, at % 2 == 0 ? distance : -distance, {target, source}});
                    at = partner(at, static_cast<int>(step), size);
                }
            }
        }
    }
    return steps;
}

}  // namespace trefoil
