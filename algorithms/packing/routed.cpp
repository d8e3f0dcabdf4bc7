// SPDX-License-Identifier: BSD-3-Clause
// From routes to steps.
#include "algorithms/packing/routed.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <utility>

#include "algorithms/packing/bounds.hpp"

namespace trefoil {

namespace {

/// Puts these routes into steps, as few as there are for (nearly) the least time; returns that.
double put_into_steps(RoutedBlocks& blocks) {
    constexpr int widest = 16;
    constexpr double hardly = 1.01;
    const int parts = blocks.routes.parts;
    std::vector<int> windows;
    for (int window = 1; window < parts; window *= 4) {
        windows.push_back(window);
    }
    for (int blocks_at_once = 1; blocks_at_once <= widest; blocks_at_once *= 4) {
        windows.push_back(blocks_at_once * parts);
    }
    std::vector<double> times(windows.size());
    std::vector<std::vector<RouteStep>> crossings;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        crossings.push_back(route_steps(blocks.routes, windows[i], times[i]));
    }
    const double most = hardly * *std::min_element(times.begin(), times.end());
    std::size_t chosen = windows.size() - 1;
    while (times[chosen] > most) {
        --chosen;
    }
    blocks.crossings = std::move(crossings[chosen]);
    blocks.steps = blocks.crossings.back().step + 1;
    return times[chosen];
}

/// One rank's messages, part by part.
class RankWriter {
  public:
    RankWriter(const RoutedBlocks& blocks, Collective collective, Rank rank)
        : blocks_(blocks),
          between_all_(collective == Collective::alltoall),
          backwards_(collective == Collective::gather),
          rank_(rank),
          writer_(rank) {
        for (const int index : blocks.of_rank[to_index(rank)]) {
            mine_.push_back(blocks.crossings[to_index(index)]);
        }
        if (backwards_) {
            for (RouteStep& one : mine_) {
                one.step = blocks.steps - 1 - one.step;
            }
            std::stable_sort(mine_.begin(), mine_.end(), [&](const auto& a, const auto& b) {
                return std::pair(part(a), a.step) < std::pair(part(b), b.step);
            });
        }
    }

    Schedule build() {
        auto first = mine_.cbegin();
        for (int p = 0; p < blocks_.routes.parts; ++p) {
            const auto last = std::find_if(first, mine_.cend(),
                                           [&](const RouteStep& one) { return part(one) != p; });
            add_part({first, last});
            first = last;
        }
        return writer_.take();
    }

  private:
    int part(const RouteStep& one) const { return blocks_.routes.part_of(to_index(one.route)); }
    const FabricLink& link(const RouteStep& one) const {
        return blocks_.routes.links[to_index(one.link)];
    }
    bool sends(const RouteStep& one) const {
        return (backwards_ ? link(one).to : link(one).from) == rank_;
    }

    void add_part(std::span<const RouteStep> crossings) {
        const auto ranks = static_cast<Block>(blocks_.routes.ranks);
        const Block scratch = place(crossings);
        writer_.part(between_all_ ? 2 * ranks : ranks, scratch);
        std::size_t begin = 0;
        for (int step = 0; step < std::max(blocks_.steps, between_all_ ? 1 : 0); ++step) {
            writer_.step();
            if (between_all_ && step == 0) {
                const auto own = static_cast<Block>(rank_);
                writer_.move(Action::replace, {own, 1}, ranks + own);
            }
            std::size_t end = begin;
            while (end < crossings.size() && crossings[end].step == step) {
                ++end;
            }
            for (const bool sending : {true, false}) {
                add_messages(crossings, begin, end, sending);
            }
            begin = end;
        }
    }

    /// Finds out where in this rank's buffer what crosses lies, and how many scratch blocks are
    /// needed. What leaves in a step makes room for what comes in it.
    Block place(std::span<const RouteStep> crossings) {
        const auto ranks = static_cast<Block>(blocks_.routes.ranks);
        at_.assign(crossings.size(), 0);
        std::vector<Block> held(between_all_ ? blocks_.routes.routes.size() : 0);
        std::priority_queue<Block, std::vector<Block>, std::greater<>> free;
        Block used = 0;
        for (std::size_t begin = 0, end = 0; begin < crossings.size(); begin = end) {
            while (end < crossings.size() && crossings[end].step == crossings[begin].step) {
                ++end;
            }
            for (const bool sending : {true, false}) {
                for (std::size_t i = begin; i < end; ++i) {
                    if (sends(crossings[i]) != sending) {
                        continue;
                    }
                    const auto number = to_index(crossings[i].route);
                    const BlockRoute& route = blocks_.routes.routes[number];
                    if (!between_all_) {
                        at_[i] = static_cast<Block>(route.to);
                    } else if (sending && route.from == rank_) {
                        at_[i] = static_cast<Block>(route.to);
                    } else if (!sending && route.to == rank_) {
                        at_[i] = ranks + static_cast<Block>(route.from);
                    } else if (sending) {
                        at_[i] = held[number];
                        free.push(held[number]);
                    } else {
                        if (free.empty()) {
                            free.push(2 * ranks + used++);
                        }
                        at_[i] = held[number] = free.top();
                        free.pop();
                    }
                }
            }
        }
        return used;
    }

    /// Each block is a message of its own: nothing is gathered.
    void add_messages(std::span<const RouteStep> crossings, std::size_t begin, std::size_t end,
                      bool sending) {
        for (std::size_t i = begin; i < end; ++i) {
            if (sends(crossings[i]) != sending) {
                continue;
            }
            const FabricLink& over = link(crossings[i]);
            const bool at_head = over.from == rank_;
            const Rank peer = at_head ? over.to : over.from;
            const Port port = at_head ? over.port : over.port.opposite();
            const Extent extent{at_[i], 1};
            if (sending) {
                writer_.send(peer, port, {&extent, 1});
            } else {
                writer_.receive(peer, port, Action::replace, {&extent, 1});
            }
        }
    }

    const RoutedBlocks& blocks_;
    bool between_all_, backwards_;
    Rank rank_;
    ScheduleWriter writer_;
    std::vector<RouteStep> mine_;
    std::vector<Block> at_;  ///< by crossing of the part under way
};

}  // namespace

RoutedBlocks route_blocks(const Fabric& fabric, Collective collective, Rank root) {
    const Rank ranks = fabric.ranks();
    RoutedBlocks best;
    best.routes.ranks = ranks;
    best.of_rank.resize(to_index(ranks));
    if (ranks == 1) {
        return best;
    }
    const double bound = throughput_bound(fabric, collective, root)->vectors();
    const std::vector<FabricLink> links =
        collective == Collective::gather ? reversed(fabric.links()) : fabric.links();
    const bool between_all = collective == Collective::alltoall;
    const int most_parts = between_all ? 8 : 16;
    // So that set-up takes less than a second.
    constexpr std::int64_t most_routes = 20'000;
    const std::int64_t blocks = std::int64_t{ranks} * (between_all ? ranks : 1);
    double least = 0;
    for (int parts = 1; parts <= most_parts; ++parts) {
        if (parts > 1 && (least <= close_to_bound * bound || parts * blocks > most_routes)) {
            break;
        }
        RoutedBlocks one;
        one.routes = between_all ? route_pairs(links, ranks, parts, bound)
                                 : route_from_root(links, ranks, root, parts, bound);
        const std::vector<int> loads = one.routes.loads();
        if (parts > 1 && *std::max_element(loads.begin(), loads.end()) > most_messages_of_link) {
            break;
        }
        const double time = put_into_steps(one);
        if (least == 0 || time < least - 1e-9) {
            least = time;
            best = std::move(one);
        }
    }
    best.time = best.routes.time();
    std::stable_sort(
        best.crossings.begin(), best.crossings.end(), [&](const RouteStep& a, const RouteStep& b) {
            return best.routes.part_of(to_index(a.route)) < best.routes.part_of(to_index(b.route));
        });
    best.of_rank.resize(to_index(ranks));
    for (int i = 0; i < static_cast<int>(best.crossings.size()); ++i) {
        const FabricLink& link = best.routes.links[to_index(best.crossings[to_index(i)].link)];
        best.of_rank[to_index(link.from)].push_back(i);
        best.of_rank[to_index(link.to)].push_back(i);
    }
    return best;
}

Schedule routed_schedule(const RoutedBlocks& blocks, Collective collective, Rank rank) {
    return RankWriter(blocks, collective, rank).build();
}

}  // namespace trefoil
