// SPDX-License-Identifier: BSD-3-Clause
// In which order the parts of an alltoall go through the dimensions, and when shorter rings rest.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
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

/// Those that have steps, and the most steps.
struct Moving {
    std::vector<int> dimensions;
    int longest = 0;
};

Moving moving_of(const AlltoallRings& rings) {
    Moving moving;
    for (std::size_t j = 0; j < rings.size(); ++j) {
        moving.longest = std::max(moving.longest, rings[j]->steps());
        if (rings[j]->steps() > 0) {
            moving.dimensions.push_back(static_cast<int>(j));
        }
    }
    return moving;
}

struct Stage {
    std::vector<std::vector<int>> places;  // by dimension, when its ring moves
    Loads largest;                         // by step, of all classes
};

Stage stage_of(const AlltoallRings& rings, const Moving& moving) {
    std::int64_t blocks = 1;
    for (const int j : moving.dimensions) {
        blocks *= rings[j]->size();
    }
    std::vector<int> longest_first = moving.dimensions;
    std::ranges::stable_sort(longest_first, std::greater<>{},
                             [&](int j) { return rings[j]->steps(); });
    Stage stage{std::vector<std::vector<int>>(rings.size()), Loads(moving.longest, 0)};
    for (const int j : longest_first) {
        Loads loads;
        for (const RingTraffic& step : rings[j]->traffic()) {
            loads.push_back(step.load * (blocks / rings[j]->size()));
        }
        stage.places[j] = fit(loads, stage.largest);
        for (std::size_t k = 0; k < loads.size(); ++k) {
            std::int64_t& largest = stage.largest[stage.places[j][k]];
            largest = std::max(largest, loads[k]);
        }
    }
    return stage;
}

/// When its ring moves in a stage, by dimension. If all have as many steps no load need be known.
std::vector<std::vector<int>> places_of(const AlltoallRings& rings, const Moving& moving) {
    const bool alike = std::ranges::all_of(
        moving.dimensions, [&](int j) { return rings[j]->steps() == moving.longest; });
    if (!alike) {
        return stage_of(rings, moving).places;
    }
    std::vector<std::vector<int>> places(rings.size());
    for (const int j : moving.dimensions) {
        places[j].resize(moving.longest);
        std::iota(places[j].begin(), places[j].end(), 0);
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

std::int64_t rotated_load(const AlltoallRings& rings) {
    const Loads largest = stage_of(rings, moving_of(rings)).largest;
    return std::accumulate(largest.begin(), largest.end(), std::int64_t{0});
}

std::vector<AlltoallPart> rotated_parts(const AlltoallRings& rings, bool whole) {
    const Moving all = moving_of(rings);
    const std::vector<int>& moving = all.dimensions;
    const int longest = all.longest;
    if (moving.empty()) {
        return sequential_parts(rings);
    }
    const auto places = places_of(rings, all);
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

bool needs_other_way(const Torus& torus) {
    bool any_pair = false;
    for (int j = 0; j < torus.dimensions(); ++j) {
        const Rank size = torus.is_host(j) ? 1 : torus.size(j);
        if (size > 3 || torus.is_line(j)) {
            return false;
        }
        any_pair = any_pair || size == 2;
    }
    return any_pair;
}

std::vector<AlltoallPart> with_other_way(std::vector<AlltoallPart> parts) {
    const std::size_t count = parts.size();
    for (std::size_t p = 0; p < count; ++p) {
        parts.push_back(parts[p]);
        parts.back().other_way = true;
    }
    return parts;
}

// In a stage each part moves in another dimension, and each dimension carries all that the others
// hold: every line of it as many blocks for a pair as there are lines. The ranks of a node are on
// different lines, which share its links.
LinkSteps rotated_link_steps(const Torus& torus, const AlltoallRings& rings) {
    const Moving all = moving_of(rings);
    const auto stages = std::ssize(all.dimensions);
    std::int64_t blocks = 1;
    for (const int j : all.dimensions) {
        blocks *= rings[j]->size();
    }
    const auto places = places_of(rings, all);
    const int ways = needs_other_way(torus) ? 2 : 1;
    const std::int64_t sent = ways * stages;  // by all parts in each dimension
    LinkSteps result{ways * std::max(1, static_cast<int>(stages)), {}, 0};
    std::vector<LinkStep> stage(all.longest);
    for (const int j : all.dimensions) {
        const std::int64_t lines = blocks / rings[j]->size();
        const std::vector<RingTraffic> traffic = rings[j]->traffic();
        for (std::size_t k = 0; k < traffic.size(); ++k) {
            const RingTraffic& ring = traffic[k];
            LinkStep& step = stage[places[j][k]];
            if (torus.is_host(j)) {
                result.messages_inside += sent * ring.messages * lines;
                step.blocks_inside += ways * ring.pairs * lines * lines;
                step.most_inside = step.blocks_inside / torus.ranks();
            } else {
                const int on_a_link = rings[j]->size() == 2 ? 1 : ways;
                step.load =
                    std::max(step.load, 2 * on_a_link * ring.load * lines * torus.per_node());
                step.hops = std::max<std::int64_t>(step.hops, ring.hops);
                step.through_port = std::max(step.through_port, on_a_link * ring.through_port);
            }
            // Own blocks lie in the order of targets: those for neighbours in the slowest dimension
            // are together. From the second stage on blocks that have come go with them.
            const bool first = j == all.dimensions.front();
            const std::int64_t pairs =
                sent * (ring.pairs - ring.onward) - (first ? ways * ring.straight : 0);
            result.gathered += pairs * lines * lines;
        }
    }
    for (std::ptrdiff_t s = 0; s < stages; ++s) {
        result.steps.insert(result.steps.end(), stage.begin(), stage.end());
    }
    return result;
}

}  // namespace trefoil
