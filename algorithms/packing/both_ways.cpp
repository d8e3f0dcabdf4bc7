// SPDX-License-Identifier: BSD-3-Clause
// Spanning trees that share no cable, as a union of forests: a cable that would close a cycle in
// every forest takes the place of another one in a cycle, which goes to the next forest, and so on
// until one finds room.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algorithms/packing/trees.hpp"

namespace trefoil {

namespace {

/// Undirected; one unit of a cable.
struct Edge {
    Rank a = 0, b = 0;
    int link = 0;  ///< from a to b
};

class Forests {
  public:
    Forests(std::vector<Edge> edges, Rank ranks, int count)
        : edges_(std::move(edges)),
          ranks_(ranks),
          owner_(edges_.size(), -1),
          in_(to_index(count), std::vector<std::vector<int>>(to_index(ranks))),
          left_(to_index(count), ranks - 1) {}

    /// Takes edges until no more fit; whether all forests have become trees.
    bool fill() {
        plant();
        for (std::size_t e = 0; e < edges_.size() && missing() > 0; ++e) {
            if (owner_[e] < 0) {
                insert(static_cast<int>(e));
            }
        }
        return missing() == 0;
    }

    std::vector<PackedTree> trees(const std::vector<FabricLink>& links,
                                  const std::vector<int>& back) const {
        std::vector<PackedTree> all;
        for (std::size_t f = 0; f < in_.size(); ++f) {
            const Rank root = centre(f);
            PackedTree tree{root, std::vector<int>(to_index(ranks_), -1)};
            std::vector<Rank> queue{root};
            for (std::size_t i = 0; i < queue.size(); ++i) {
                for (const int e : in_[f][to_index(queue[i])]) {
                    const Rank to = other(e, queue[i]);
                    const int link = edges_[to_index(e)].link;
                    const int used =
                        links[to_index(link)].from == queue[i] && links[to_index(link)].to == to
                            ? link
                            : back[to_index(link)];
                    if (to != root && tree.entry[to_index(to)] < 0) {
                        tree.entry[to_index(to)] = used;
                        queue.push_back(to);
                    }
                }
            }
            all.push_back(std::move(tree));
        }
        return all;
    }

  private:
    Rank other(int edge, Rank end) const {
        return edges_[to_index(edge)].a == end ? edges_[to_index(edge)].b
                                               : edges_[to_index(edge)].a;
    }
    int missing() const { return std::accumulate(left_.begin(), left_.end(), 0); }

    /// Forests grow side by side from roots far apart, a layer each in turn, so that they are
    /// shallow; what they leave is found by exchanges.
    void plant() {
        std::vector<std::vector<int>> around(to_index(ranks_));
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            around[to_index(edges_[e].a)].push_back(static_cast<int>(e));
            around[to_index(edges_[e].b)].push_back(static_cast<int>(e));
        }
        const std::size_t count = in_.size();
        std::vector<std::vector<Rank>> queues(count);
        std::vector<std::vector<bool>> reached(count, std::vector<bool>(to_index(ranks_)));
        for (std::size_t f = 0; f < count; ++f) {
            const auto root = static_cast<Rank>(f * to_index(ranks_) / count);
            queues[f].push_back(root);
            reached[f][to_index(root)] = true;
        }
        bool grows = true;
        for (std::size_t i = 0; grows; ++i) {
            grows = false;
            for (std::size_t f = 0; f < count; ++f) {
                if (i >= queues[f].size()) {
                    continue;
                }
                grows = true;
                const Rank here = queues[f][i];
                const auto& edges = around[to_index(here)];
                for (std::size_t k = 0; k < edges.size(); ++k) {
                    const int e = edges[(k + f) % edges.size()];
                    const Rank to = other(e, here);
                    if (owner_[to_index(e)] < 0 && !reached[f][to_index(to)]) {
                        reached[f][to_index(to)] = true;
                        queues[f].push_back(to);
                        put(e, static_cast<int>(f));
                    }
                }
            }
        }
    }

    void put(int edge, int forest) {
        owner_[to_index(edge)] = forest;
        in_[to_index(forest)][to_index(edges_[to_index(edge)].a)].push_back(edge);
        in_[to_index(forest)][to_index(edges_[to_index(edge)].b)].push_back(edge);
        --left_[to_index(forest)];
    }
    void take(int edge) {
        auto& forest = in_[to_index(owner_[to_index(edge)])];
        std::erase(forest[to_index(edges_[to_index(edge)].a)], edge);
        std::erase(forest[to_index(edges_[to_index(edge)].b)], edge);
        ++left_[to_index(owner_[to_index(edge)])];
        owner_[to_index(edge)] = -1;
    }

    /// The way between an edge's ends in a forest; empty: there is none.
    std::vector<int> way(int edge, int forest) const {
        std::vector<int> via(to_index(ranks_), -1);
        const Rank from = edges_[to_index(edge)].a, to = edges_[to_index(edge)].b;
        std::vector<Rank> queue{from};
        for (std::size_t i = 0; i < queue.size() && via[to_index(to)] < 0; ++i) {
            for (const int e : in_[to_index(forest)][to_index(queue[i])]) {
                const Rank next = other(e, queue[i]);
                if (next != from && via[to_index(next)] < 0) {
                    via[to_index(next)] = e;
                    queue.push_back(next);
                }
            }
        }
        std::vector<int> edges;
        for (Rank here = to; via[to_index(to)] >= 0 && here != from;) {
            edges.push_back(via[to_index(here)]);
            here = other(via[to_index(here)], here);
        }
        return edges;
    }

    void insert(int edge) {
        constexpr int unseen = -2, first = -1;
        std::vector<int> because(edges_.size(), unseen);
        because[to_index(edge)] = first;
        std::vector<int> queue{edge};
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (int f = 0; f < static_cast<int>(in_.size()); ++f) {
                if (owner_[to_index(queue[i])] == f) {
                    continue;
                }
                const std::vector<int> cycle = way(queue[i], f);
                if (cycle.empty()) {
                    int here = queue[i], forest = f;
                    while (here != first) {
                        const int before = owner_[to_index(here)];
                        if (before >= 0) {
                            take(here);
                        }
                        put(here, forest);
                        forest = before;
                        here = because[to_index(here)];
                    }
                    return;
                }
                for (const int e : cycle) {
                    if (because[to_index(e)] == unseen) {
                        because[to_index(e)] = queue[i];
                        queue.push_back(e);
                    }
                }
            }
        }
    }

    /// In the middle of the longest way of a tree.
    Rank centre(std::size_t forest) const {
        Rank far = 0;
        std::vector<Rank> parent;
        for (int round = 0; round < 2; ++round) {
            parent.assign(to_index(ranks_), -1);
            std::vector<Rank> queue{far};
            parent[to_index(far)] = far;
            for (std::size_t i = 0; i < queue.size(); ++i) {
                for (const int e : in_[forest][to_index(queue[i])]) {
                    const Rank to = other(e, queue[i]);
                    if (parent[to_index(to)] < 0) {
                        parent[to_index(to)] = queue[i];
                        queue.push_back(to);
                    }
                }
            }
            far = queue.back();
        }
        int length = 0;
        for (Rank here = far; parent[to_index(here)] != here; here = parent[to_index(here)]) {
            ++length;
        }
        Rank here = far;
        for (int i = 0; i < length / 2; ++i) {
            here = parent[to_index(here)];
        }
        return here;
    }

    std::vector<Edge> edges_;
    Rank ranks_;
    std::vector<int> owner_;                         ///< by edge; -1: unused
    std::vector<std::vector<std::vector<int>>> in_;  ///< by forest and rank: edges
    std::vector<int> left_;                          ///< by forest: edges that it lacks
};

std::vector<Edge> units(const std::vector<FabricLink>& links, const std::vector<int>& back, int m) {
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (back[i] < static_cast<int>(i)) {
            continue;  // counted from the other end, or one way only
        }
        const int rate = std::min(links[i].rate, links[to_index(back[i])].rate);
        for (int copy = 0; copy < m * rate / Fabric::whole; ++copy) {
            edges.push_back({links[i].from, links[i].to, static_cast<int>(i)});
        }
    }
    return edges;
}

}  // namespace

Packing pack_both_ways(const Fabric& fabric, double bound) {
    const Rank ranks = fabric.ranks();
    Packing packing{fabric.links(), ranks, {}, true};
    const std::vector<int> back = links_back(packing.links);
    constexpr int most_copies = 20;
    const int most_trees = ranks <= 64 ? 40 : 8;
    double best = 0;
    for (int m = 1; m <= most_copies && best * bound * close_to_bound < 1; ++m) {
        std::vector<Edge> edges = units(packing.links, back, m);
        auto count = static_cast<int>(std::min<std::int64_t>(
            std::ssize(edges) / (ranks - 1), std::lround(std::floor(m / bound + 1e-9))));
        for (; count > best * m && count <= most_trees; --count) {
            Forests forests(edges, ranks, count);
            if (forests.fill()) {
                best = static_cast<double>(count) / m;
                packing.trees = forests.trees(packing.links, back);
                break;
            }
        }
    }
    return packing;
}

}  // namespace trefoil
