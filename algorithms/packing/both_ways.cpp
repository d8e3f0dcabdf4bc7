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
    /// `turn` decides where forests begin to grow and where they look first.
    Forests(std::vector<Edge> edges, Rank ranks, int count, std::size_t turn)
        : turn_(turn),
          edges_(std::move(edges)),
          ranks_(ranks),
          owner_(edges_.size(), -1),
          because_(edges_.size(), unseen),
          in_(to_index(count), std::vector<std::vector<int>>(to_index(ranks))),
          spots_(to_index(count), std::vector<Spot>(to_index(ranks))),
          left_(to_index(count), ranks - 1),
          full_(to_index(ranks)) {
        std::iota(full_.begin(), full_.end(), 0);
    }

    /// Takes edges until no more fit; whether all forests have become trees.
    bool fill() {
        plant();
        for (std::size_t f = 0; f < in_.size(); ++f) {
            settle(f);
        }
        for (std::size_t e = 0; e < edges_.size() && missing() > 0; ++e) {
            if (owner_[e] < 0 && !is_full(static_cast<int>(e))) {
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
            const auto root =
                static_cast<Rank>((f * to_index(ranks_) / count + 7 * turn_) % to_index(ranks_));
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
                    const int e = edges[(k + f * (1 + turn_ % 3) + turn_ / 3) % edges.size()];
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

    /// Where ranks are in a forest, once it has changed.
    void settle(std::size_t forest) {
        std::vector<Spot>& spots = spots_[forest];
        spots.assign(spots.size(), {});
        std::vector<Rank> queue;
        for (Rank first = 0; first < ranks_; ++first) {
            if (spots[to_index(first)].tree >= 0) {
                continue;
            }
            spots[to_index(first)].tree = first;
            queue.assign(1, first);
            for (std::size_t i = 0; i < queue.size(); ++i) {
                const Spot& here = spots[to_index(queue[i])];
                for (const int e : in_[forest][to_index(queue[i])]) {
                    const Rank next = other(e, queue[i]);
                    if (spots[to_index(next)].tree < 0) {
                        spots[to_index(next)] = {first, here.depth + 1, e};
                        queue.push_back(next);
                    }
                }
            }
        }
    }

    /// The way between an edge's ends in a forest, from the end; empty: there is none.
    std::vector<int> way(int edge, int forest) const {
        const std::vector<Spot>& spots = spots_[to_index(forest)];
        Rank a = edges_[to_index(edge)].a, b = edges_[to_index(edge)].b;
        std::vector<int> from_a, edges;
        if (spots[to_index(a)].tree != spots[to_index(b)].tree) {
            return edges;
        }
        while (a != b) {
            const bool a_is_lower = spots[to_index(a)].depth > spots[to_index(b)].depth;
            Rank& lower = a_is_lower ? a : b;
            const int up = spots[to_index(lower)].up;
            (a_is_lower ? from_a : edges).push_back(up);
            lower = other(up, lower);
        }
        edges.insert(edges.end(), from_a.rbegin(), from_a.rend());
        return edges;
    }

    /// Ranks between which every forest has a way, whose edges cannot be exchanged for any other
    /// one: no edge between two of them fits any more, now or later.
    int full_of(Rank rank) {
        while (full_[to_index(rank)] != rank) {
            full_[to_index(rank)] = full_[to_index(full_[to_index(rank)])];
            rank = full_[to_index(rank)];
        }
        return rank;
    }
    bool is_full(int edge) {
        return full_of(edges_[to_index(edge)].a) == full_of(edges_[to_index(edge)].b);
    }

    void insert(int edge) {
        because_[to_index(edge)] = first_one;
        std::vector<int> queue{edge};
        const bool fits = exchange(queue);
        for (const int e : queue) {
            because_[to_index(e)] = unseen;
            if (!fits) {
                full_[to_index(full_of(edges_[to_index(e)].a))] = full_of(edges_[to_index(e)].b);
            }
        }
    }

    /// Whether the edge in the queue fits; it then takes its place. The queue gets all that were
    /// looked at.
    bool exchange(std::vector<int>& queue) {
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (int f = 0; f < static_cast<int>(in_.size()); ++f) {
                if (owner_[to_index(queue[i])] == f) {
                    continue;
                }
                const std::vector<int> cycle = way(queue[i], f);
                if (cycle.empty()) {
                    take_places(queue[i], f);
                    return true;
                }
                for (const int e : cycle) {
                    if (because_[to_index(e)] == unseen && !is_full(e)) {
                        because_[to_index(e)] = queue[i];
                        queue.push_back(e);
                    }
                }
            }
        }
        return false;
    }

    void take_places(int last, int free) {
        std::vector<bool> changed(in_.size());
        int here = last, forest = free;
        while (here != first_one) {
            const int before = owner_[to_index(here)];
            if (before >= 0) {
                take(here);
            }
            put(here, forest);
            changed[to_index(forest)] = true;
            forest = before;
            here = because_[to_index(here)];
        }
        for (std::size_t f = 0; f < in_.size(); ++f) {
            if (changed[f]) {
                settle(f);
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

    /// A rank's place in a forest: its tree, named by the root, and the edge towards that.
    struct Spot {
        Rank tree = -1;
        int depth = 0;
        int up = -1;
    };
    static constexpr int unseen = -2, first_one = -1;

    std::size_t turn_;
    std::vector<Edge> edges_;
    Rank ranks_;
    std::vector<int> owner_;                         ///< by edge; -1: unused
    std::vector<int> because_;                       ///< by edge: which one may take its place
    std::vector<std::vector<std::vector<int>>> in_;  ///< by forest and rank: edges
    std::vector<std::vector<Spot>> spots_;           ///< by forest and rank
    std::vector<int> left_;                          ///< by forest: edges that it lacks
    std::vector<Rank> full_;                         ///< by rank: another one it is full with
};

std::vector<Edge> units(const std::vector<FabricLink>& links, const std::vector<int>& back,
                        const std::vector<int>& rates, const Copies& copies) {
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (back[i] < static_cast<int>(i)) {
            continue;  // counted from the other end, or one way only
        }
        for (int copy = 0; copy < copies.of(rates[i]); ++copy) {
            edges.push_back({links[i].from, links[i].to, static_cast<int>(i)});
        }
    }
    return edges;
}

/// No more trees than the rank with the fewest edges has of them, and than edges are enough for.
std::int64_t trees_of(const std::vector<Edge>& edges, Rank ranks) {
    std::vector<std::int64_t> at(to_index(ranks));
    for (const Edge& edge : edges) {
        ++at[to_index(edge.a)];
        ++at[to_index(edge.b)];
    }
    return std::min(std::ssize(edges) / (ranks - 1), *std::min_element(at.begin(), at.end()));
}

}  // namespace

Packing pack_both_ways(const Fabric& fabric, double bound, double close) {
    const Rank ranks = fabric.ranks();
    Packing packing{fabric.links(), ranks, {}, true};
    const std::vector<int> back = links_back(packing.links);
    const std::vector<int> rates = rates_both_ways(packing.links, back);
    const int needed = least_needed_rate(packing.links, rates, ranks, 0);
    if (needed == 0) {
        return packing;
    }
    const int most_trees = ranks <= 64 ? 40 : ranks <= 512 ? 20 : 8;
    double best = 0;
    Copies best_copies;
    const auto look = [&](const Copies& copies, double most) {
        const std::vector<Edge> edges = units(packing.links, back, rates, copies);
        auto count =
            static_cast<int>(std::min({trees_of(edges, ranks), std::lround(std::floor(most + 1e-9)),
                                       std::int64_t{most_trees}}));
        for (; count > 0 && copies.worth(count) > best; --count) {
            Forests forests(edges, ranks, count, 0);
            if (forests.fill()) {
                best = copies.worth(count);
                best_copies = copies;
                packing.trees = forests.trees(packing.links, back);
                break;
            }
        }
    };
    constexpr int most_copies = 20;
    const int least_copies = (Fabric::whole + needed - 1) / needed;  // with fewer there is no tree
    for (int m = least_copies; m <= most_copies && best * bound * close < 1; ++m) {
        look({m}, m / bound);
    }
    const int most_tries = ranks <= 512 ? 4 : 1;
    const bool too_slow = packing.trees.empty();
    for (int m = 1; too_slow && m <= most_tries; ++m) {
        look({m, needed}, most_trees);
    }
    // As many trees again, of which the lowest fill a pipeline soonest. Many take longer.
    constexpr std::size_t few_trees = 8;
    const bool again = !packing.trees.empty() && packing.trees.size() <= few_trees;
    const int turns = again ? std::clamp(4096 / ranks, 1, 12) : 0;
    int least = packing.height();
    for (int turn = 1; turn < turns; ++turn) {
        Forests forests(units(packing.links, back, rates, best_copies), ranks,
                        static_cast<int>(packing.trees.size()), to_index(turn));
        Packing other{packing.links, ranks, {}, true};
        if (forests.fill()) {
            other.trees = forests.trees(packing.links, back);
        }
        if (!other.trees.empty() && other.height() < least &&
            (!too_slow || other.time(1) <= packing.time(1))) {
            least = other.height();
            packing.trees = std::move(other.trees);
        }
    }
    return packing;
}

}  // namespace trefoil
