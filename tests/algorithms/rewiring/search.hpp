// SPDX-License-Identifier: BSD-3-Clause
// The same questions answered the slow way: all shortest ways walked, all sequences of wirings
// tried.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"

namespace trefoil::test {

struct Message {
    Rank from = 0, to = 0;
    double share = 0;
    friend bool operator==(const Message&, const Message&) = default;
};

/// Circuits of a ring of n: from, to, how many in parallel.
using Graph = std::map<Rank, std::map<Rank, int>>;

inline std::vector<std::vector<Message>> messages_of(Rank n, Collective collective,
                                                     std::string_view name,
                                                     const BuildOptions& options = {}) {
    std::vector<std::vector<Message>> steps;
    const Torus torus({n});
    const Algorithm& algorithm = find_algorithm(collective, name);
    for (Rank r = 0; r < n; ++r) {
        const Schedule schedule = algorithm.build(torus, r, options);
        for (const Part& part : schedule.parts) {
            std::size_t s = 0;
            for (const Step& step : schedule.of(part)) {
                steps.resize(std::max(steps.size(), s + 1));
                for (const Send& send : schedule.sends_of(step)) {
                    const auto blocks = static_cast<double>(block_count(schedule.extents_of(send)));
                    steps[s].push_back(
                        {r, send.peer,
                         blocks / part.vector_blocks / static_cast<double>(schedule.parts.size())});
                }
                ++s;
            }
        }
    }
    std::erase_if(steps, [](const auto& step) { return step.empty(); });
    return steps;
}

inline Graph shifted(Rank n, Rank stride) {
    Graph graph;
    for (Rank x = 0; x < n; ++x) {
        ++graph[x][(x + stride) % n];
        ++graph[x][(x + n - stride) % n];
    }
    return graph;
}

/// A circuit for each message.
inline Graph own(const std::vector<Message>& step) {
    Graph graph;
    for (const Message& m : step) {
        ++graph[m.from][m.to];
    }
    return graph;
}

/// Who is joined to whom.
inline std::set<std::pair<Rank, Rank>> joins(const Graph& graph) {
    std::set<std::pair<Rank, Rank>> result;
    for (const auto& [from, peers] : graph) {
        for (const auto& [to, count] : peers) {
            result.insert({from, to});
        }
    }
    return result;
}

inline int distance(const Graph& graph, Rank from, Rank to) {
    std::set<Rank> seen{from}, edge{from};
    for (int hops = 0; !edge.empty(); ++hops) {
        if (edge.contains(to)) {
            return hops;
        }
        std::set<Rank> next;
        for (const Rank at : edge) {
            if (!graph.contains(at)) {
                continue;
            }
            for (const auto& [peer, count] : graph.at(at)) {
                if (seen.insert(peer).second) {
                    next.insert(peer);
                }
            }
        }
        edge = std::move(next);
    }
    return -1;
}

/// {hops, load} of a step; hops -1: a message cannot get there.
inline std::pair<int, double> walked(const Graph& graph, const std::vector<Message>& step) {
    std::map<std::pair<Rank, Rank>, double> loads;
    std::map<std::pair<Rank, Rank>, int> known;
    const auto far = [&](Rank a, Rank b) {
        const auto [place, is_new] = known.try_emplace({a, b}, 0);
        if (is_new) {
            place->second = distance(graph, a, b);
        }
        return place->second;
    };
    int longest = 0;
    for (const Message& m : step) {
        const int hops = far(m.from, m.to);
        if (hops < 0) {
            return {-1, 0};
        }
        longest = std::max(longest, hops);
        std::function<void(Rank, double)> go = [&](Rank at, double share) {
            if (at == m.to) {
                return;
            }
            std::vector<Rank> next;
            for (const auto& [peer, count] : graph.at(at)) {
                if (far(peer, m.to) == far(at, m.to) - 1) {
                    next.push_back(peer);
                }
            }
            for (const Rank peer : next) {
                const double part = share / static_cast<double>(next.size());
                loads[{at, peer}] += part / graph.at(at).at(peer);
                go(peer, part);
            }
        };
        go(m.from, m.share);
    }
    double most = 0;
    for (const auto& [link, load] : loads) {
        most = std::max(most, load);
    }
    return {longest, most};
}

/// The least over all sequences of wirings, each tried; costs[i][g], wiring 0 at the start.
inline double cheapest_of_all(const std::vector<std::vector<double>>& costs, double change,
                              bool give_back = false, bool free_start = false) {
    double least = std::numeric_limits<double>::infinity();
    std::function<void(std::size_t, std::size_t, double)> go = [&](std::size_t i, std::size_t last,
                                                                   double sum) {
        if (i == costs.size()) {
            least = std::min(least, sum + (give_back && last != 0 ? change : 0));
            return;
        }
        for (std::size_t g = 0; g < costs[i].size(); ++g) {
            const bool changes = g != last && !(i == 0 && free_start);
            const double next = sum + costs[i][g] + (changes ? change : 0);
            if (next < least) {
                go(i + 1, g, next);
            }
        }
    };
    go(0, 0, 0);
    return least;
}

}  // namespace trefoil::test
