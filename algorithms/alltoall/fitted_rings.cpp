// SPDX-License-Identifier: BSD-3-Clause
// One dimension after the other takes the ring that fits best beside those of the others.
//
//     6x10, radix 4     10 coordinates: digits of weight 1 and 4, loads 7 and 6 of 6 blocks each
//                        6 coordinates: weight 1, load 5 of 10 blocks, more than 42 or 36;
//                                       radix 2, weights 1 and 2, loads 2 and 3: it fits
#include "algorithms/alltoall/fitted_rings.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithms/alltoall/ring_kinds.hpp"
#include "algorithms/alltoall/signed_digit_ring.hpp"

namespace trefoil {

namespace {

/// Larger ones than these differ little from the one that was asked for.
constexpr int most_tried = 8;

int most_steps(const AlltoallRings& rings) {
    int most = 0;
    for (const auto& ring : rings) {
        most = std::max(most, ring->steps());
    }
    return most;
}

/// Those with the fewest steps first: others may rest while they move. None if all are of one size,
/// or if some have no rings of links, so that loads are others than those of rings.
std::vector<int> to_be_fitted(const Torus& torus, const AlltoallRings& rings) {
    std::vector<int> dimensions;
    for (int j = 0; j < torus.dimensions(); ++j) {
        if (torus.size(j) > 1) {
            dimensions.push_back(j);
        }
    }
    const bool one_size = std::ranges::all_of(
        dimensions, [&](int j) { return torus.size(j) == torus.size(dimensions[0]); });
    if (one_size || torus.has_nodes() || !torus.is_whole()) {
        return {};
    }
    std::ranges::stable_sort(dimensions, {}, [&](int j) { return rings[j]->steps(); });
    return dimensions;
}

}  // namespace

AlltoallRings digit_rings(const Torus& torus, int radix) {
    AlltoallRings rings;
    for (const Rank size : torus.sizes()) {
        rings.push_back(std::make_shared<SignedDigitRing>(size, radix));
    }
    const int longest = most_steps(rings);
    const std::vector<int> dimensions = to_be_fitted(torus, rings);
    std::int64_t least = dimensions.empty() ? 0 : rotated_load(rings);
    for (const int j : dimensions) {
        // Of those that load links alike, the one whose pairs make the fewest halts.
        for (int tried = std::min(radix, most_tried); tried >= 2; --tried) {
            for (const int steps : {0, longest}) {
                const auto known = rings[j];
                rings[j] = std::make_shared<SignedDigitRing>(torus.size(j), tried, steps);
                const bool fits = rings[j]->steps() <= longest;
                const std::int64_t load = fits ? rotated_load(rings) : least;
                if (load < least) {
                    least = load;
                } else {
                    rings[j] = known;
                }
            }
        }
    }
    return rings;
}

AlltoallRings tree_rings(const Torus& torus) {
    AlltoallRings rings;
    for (const Rank size : torus.sizes()) {
        rings.push_back(ring_alltoall(RingKind::tree, size));
    }
    if (torus.has_nodes() || !torus.is_whole()) {
        return rings;
    }
    for (Rank size = 4; size <= longest_passed_on; ++size) {
        const auto& sizes = torus.sizes();
        if (size == 8 || std::ranges::find(sizes, size) == sizes.end()) {
            continue;
        }
        AlltoallRings others = rings;
        for (int j = 0; j < torus.dimensions(); ++j) {
            if (torus.size(j) == size) {
                others[j] = ring_alltoall(RingKind::passed_on, size);
            }
        }
        const bool fits = most_steps(others) <= most_steps(rings);
        if (fits && rotated_load(others) < rotated_load(rings)) {
            rings = others;
        }
    }
    return rings;
}

}  // namespace trefoil
