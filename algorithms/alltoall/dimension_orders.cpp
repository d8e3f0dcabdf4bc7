// SPDX-License-Identifier: BSD-3-Clause
// In which order the parts of an alltoall go through the dimensions, and when shorter rings rest.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "algorithms/alltoall/product_alltoall.hpp"

namespace trefoil {

namespace {

using Loads = std::vector<std::int64_t>;

/// Puts steps of such loads, in order, among those of a stage, so that the sum of the larger loads
/// is least; late ones where it makes no difference. Returns the step of the stage for each.
std::vector<int> fit(const Loads& loads, const Loads& stage) {
    const std::size_t all = stage.size();
    constexpr std::int64_t impossible = std::numeric_limits<std::int64_t>::max();
    // least[k][i]: the first k of the loads are among the first i steps of the stage.
    std::vector<Loads> least(loads.size() + 1, Loads(all + 1, impossible));
    least[0][0] = 0;
    for (std::size_t i = 1; i <= all; ++i) {
        for (std::size_t k = 0; k <= std::min(i, loads.size()); ++k) {
            const std::int64_t rests = least[k][i - 1];
            least[k][i] = rests == impossible ? impossible : rests + stage[i - 1];
            if (k > 0 && least[k - 1][i - 1] != impossible) {
                const std::int64_t moves =
                    least[k - 1][i - 1] + std::max(stage[i - 1], loads[k - 1]);
                least[k][i] = std::min(least[k][i], moves);
            }
        }
    }
    std::vector<int> places(loads.size());
    std::size_t i = all;
    for (std::size_t k = loads.size(); k > 0; --i) {
        const bool moves =
            least[k - 1][i - 1] != impossible &&
            least[k][i] == least[k - 1][i - 1] + std::max(stage[i - 1], loads[k - 1]);
        if (moves) {
            places[--k] = static_cast<int>(i) - 1;
        }
    }
    return places;
}

/// By dimension, when in a stage of `longest` steps each ring moves.
std::vector<std::vector<int>> places_in_stage(const AlltoallRings& rings,
                                              const std::vector<int>& moving, int longest) {
    std::int64_t blocks = 1;
    for (const int j : moving) {
        blocks *= rings[j]->size();
    }
    std::vector<int> longest_first = moving;
    std::ranges::stable_sort(longest_first, std::greater<>{},
                             [&](int j) { return rings[j]->steps(); });
    const bool alike = rings[longest_first.back()]->steps() == longest;
    std::vector<std::vector<int>> places(rings.size());
    Loads stage(longest, 0);
    for (const int j : longest_first) {
        Loads loads(rings[j]->steps(), 0);
        if (!alike) {
            loads = rings[j]->link_loads();
        }
        for (std::int64_t& load : loads) {
            load *= blocks / rings[j]->size();
        }
        places[j] = fit(loads, stage);
        for (std::size_t k = 0; k < loads.size(); ++k) {
            std::int64_t& largest = stage[places[j][k]];
            largest = std::max(largest, loads[k]);
        }
    }
    return places;
}

}  // namespace

std::vector<AlltoallPart> sequential_parts(const AlltoallRings& rings) {
    DimensionOrder order;
    for (std::size_t j = 0; j < rings.size(); ++j) {
        order.insert(order.end(), rings[j]->steps(), static_cast<int>(j));
    }
    return {{{order}}};
}

std::vector<AlltoallPart> rotated_parts(const AlltoallRings& rings, bool whole) {
    std::vector<int> moving;
    int longest = 0;
    for (std::size_t j = 0; j < rings.size(); ++j) {
        longest = std::max(longest, rings[j]->steps());
        if (rings[j]->steps() > 0) {
            moving.push_back(static_cast<int>(j));
        }
    }
    if (moving.empty()) {
        return sequential_parts(rings);
    }
    const std::vector<std::vector<int>> places = places_in_stage(rings, moving, longest);
    std::vector<AlltoallPart> parts(whole ? 1 : moving.size());
    for (std::size_t c = 0; c < moving.size(); ++c) {
        DimensionOrder order(moving.size() * longest, -1);
        for (std::size_t stage = 0; stage < moving.size(); ++stage) {
            const int j = moving[(c + stage) % moving.size()];
            for (const int place : places[j]) {
                order[stage * longest + place] = j;
            }
        }
        parts[whole ? 0 : c].orders.push_back(std::move(order));
    }
    for (AlltoallPart& part : parts) {
        for (std::size_t stage = 1; stage < moving.size(); ++stage) {
            part.stages.push_back(static_cast<int>(stage) * longest);
        }
    }
    return parts;
}

}  // namespace trefoil
