// SPDX-License-Identifier: BSD-3-Clause
// Ranks by distance, with the dimensions in turns.
#include "algorithms/schedule/straight_offsets.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace trefoil {

std::vector<StraightOffset> straight_offsets(const Torus& torus) {
    using Key = std::vector<std::int64_t>;  // hops, then the way in each dimension, ascending
    std::vector<std::pair<Key, Rank>> keyed;
    keyed.reserve(torus.ranks());
    for (Rank o = 1; o < torus.ranks(); ++o) {
        Key key;
        for (int j = 0; j < torus.dimensions(); ++j) {
            key.push_back(std::abs(torus.displacement(0, o, j)));
        }
        std::sort(key.begin(), key.end());
        key.insert(key.begin(), torus.hops(0, o));
        keyed.emplace_back(std::move(key), o);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<int> used(torus.dimensions(), 0), dimension_of(torus.ranks(), -1);
    std::vector<StraightOffset> offsets;
    for (const auto& [key, rank] : keyed) {
        const auto uses = [&, to = rank](int first) {
            return used[straight_port(torus, 0, to, first).dimension()];
        };
        int first = dimension_of[torus.translated(0, rank, -1)];
        if (first < 0) {
            first = 0;
            for (int j = 1; j < torus.dimensions(); ++j) {
                first = uses(j) < uses(first) ? j : first;
            }
        }
        dimension_of[rank] = first;
        used[straight_port(torus, 0, rank, first).dimension()] += 1;
        offsets.push_back({rank, first});
    }
    return offsets;
}

}  // namespace trefoil
