// SPDX-License-Identifier: BSD-3-Clause
// Ranks by distance, with the dimensions in turns.
#include "algorithms/schedule/straight_offsets.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace trefoil {

namespace {

/// Ranks but rank 0 by hops, then by their ways in the dimensions, sorted, then by number.
std::vector<Rank> by_distance(const Torus& torus) {
    const auto dimensions = static_cast<std::size_t>(torus.dimensions());
    const auto ranks = static_cast<std::size_t>(torus.ranks());
    const std::size_t width = dimensions + 1;
    std::vector<Rank> keys(width * ranks);  // one rank's after the other's
    for (std::size_t r = 1; r < ranks; ++r) {
        Rank* const key = &keys[width * r];
        for (int j = 0; j < torus.dimensions(); ++j) {
            const Rank ahead = torus.coordinate(static_cast<Rank>(r), j);
            const Rank apart = std::min(ahead, torus.size(j) - ahead);
            key[0] += apart;
            key[j + 1] = apart;
        }
        std::sort(key + 1, key + width);
    }
    std::vector<Rank> order(ranks - 1);
    std::iota(order.begin(), order.end(), 1);
    std::stable_sort(order.begin(), order.end(), [&](Rank a, Rank b) {
        const Rank* const of_a = &keys[width * static_cast<std::size_t>(a)];
        const Rank* const of_b = &keys[width * static_cast<std::size_t>(b)];
        return std::lexicographical_compare(of_a, of_a + width, of_b, of_b + width);
    });
    return order;
}

}  // namespace

std::vector<StraightOffset> straight_offsets(const Torus& torus) {
    std::vector<int> used(torus.dimensions(), 0), dimension_of(torus.ranks(), -1);
    std::vector<int> dimension_tried;
    std::vector<StraightOffset> offsets;
    for (const Rank rank : by_distance(torus)) {
        // The dimension through which a message leaves that tries each of them first.
        dimension_tried.clear();
        for (int j = 0; j < torus.dimensions(); ++j) {
            const bool leads_there = !torus.is_host(j) || torus.on_one_node(0, rank);
            if (leads_there && torus.coordinate(rank, j) != 0) {
                dimension_tried.resize(static_cast<std::size_t>(j) + 1, j);
            }
        }
        dimension_tried.resize(used.size(), dimension_tried.front());
        const auto uses = [&](int first) {
            return used[dimension_tried[static_cast<std::size_t>(first)]];
        };
        int first = dimension_of[torus.translated(0, rank, -1)];
        if (first < 0) {
            first = 0;
            for (int j = 1; j < torus.dimensions(); ++j) {
                first = uses(j) < uses(first) ? j : first;
            }
        }
        dimension_of[rank] = first;
        used[dimension_tried[static_cast<std::size_t>(first)]] += 1;
        offsets.push_back({rank, first});
    }
    return offsets;
}

}  // namespace trefoil
