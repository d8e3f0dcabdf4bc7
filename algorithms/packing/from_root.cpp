// SPDX-License-Identifier: BSD-3-Clause
// Trees from one root that share no link, grown one link after the other. A link may be taken if
// what is left still brings as many trees to its end as are to follow; by Lovász there always is
// one. That is asked only of sets that the link enters: by a flow from the root and the link's
// beginning to its end.
#include <algorithm>
#include <cmath>

#include "algorithms/packing/trees.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// How often each link may be used yet.
class Uses {
  public:
    Uses(const std::vector<FabricLink>& links, Rank ranks, const Copies& copies)
        : links_(links), out_(to_index(ranks)), used_(links.size()), via_(to_index(ranks), none) {
        for (std::size_t i = 0; i < links.size(); ++i) {
            left_.push_back(copies.of(links[i].rate));
            out_[to_index(links[i].from)].push_back(static_cast<int>(i));
        }
        in_.resize(to_index(ranks));
        for (std::size_t i = 0; i < links.size(); ++i) {
            in_[to_index(links[i].to)].push_back(static_cast<int>(i));
        }
    }

    const std::vector<int>& out_of(Rank rank) const { return out_[to_index(rank)]; }
    int left(int link) const { return left_[static_cast<std::size_t>(link)]; }
    void take(int link) { --left_[static_cast<std::size_t>(link)]; }
    void give_back(int link) { ++left_[static_cast<std::size_t>(link)]; }

    /// Whether `enough` units flow from either source to a rank.
    bool flows(Rank root, Rank other, Rank to, int enough) {
        return flow(root, other, to, enough) == enough;
    }
    /// The largest flow from two sources to a rank, up to `most`.
    int flow(Rank root, Rank other, Rank to, int most) {
        int flow = 0;
        while (flow < most && augment(root, other, to)) {
            ++flow;
        }
        for (const int link : touched_) {
            used_[static_cast<std::size_t>(link)] = 0;
        }
        touched_.clear();
        return flow;
    }

  private:
    bool augment(Rank root, Rank other, Rank to) {
        constexpr int begin = -2;
        reached_.clear();
        const auto reach = [&](Rank rank, int how) {
            if (via_[to_index(rank)] == none) {
                via_[to_index(rank)] = how;
                reached_.push_back(rank);
            }
        };
        reach(root, begin);
        reach(other, begin);
        for (std::size_t i = 0; i < reached_.size() && via_[to_index(to)] == none; ++i) {
            const Rank here = reached_[i];
            for (const int link : out_[to_index(here)]) {
                if (used_[static_cast<std::size_t>(link)] < left(link)) {
                    reach(links_[static_cast<std::size_t>(link)].to, 2 * link);
                }
            }
            for (const int link : in_[to_index(here)]) {
                if (used_[static_cast<std::size_t>(link)] > 0) {
                    reach(links_[static_cast<std::size_t>(link)].from, 2 * link + 1);
                }
            }
        }
        const bool arrives = via_[to_index(to)] != none;
        for (Rank here = to; arrives && via_[to_index(here)] != begin;) {
            const int how = via_[to_index(here)];
            const auto link = static_cast<std::size_t>(how / 2);
            used_[link] += how % 2 == 0 ? 1 : -1;
            touched_.push_back(how / 2);
            here = how % 2 == 0 ? links_[link].from : links_[link].to;
        }
        for (const Rank rank : reached_) {
            via_[to_index(rank)] = none;
        }
        return arrives;
    }

    static constexpr int none = -1;
    const std::vector<FabricLink>& links_;
    std::vector<std::vector<int>> out_, in_;
    std::vector<int> left_;
    // Of the flow at hand; what it touched is put back, so that a short one costs little.
    std::vector<int> used_, touched_;  ///< by link; links
    /// By rank: how it was reached, link and sense as 2 link + (1: against it).
    std::vector<int> via_;
    std::vector<Rank> reached_;
};

/// As many trees as there can be, up to `most`: the least flow from the root to any rank. Into a
/// rank flows as much as into the one before it on a way from the root, or as flows between these
/// two: whichever is less.
int most_trees_from(Uses& uses, const std::vector<FabricLink>& links, Rank ranks, Rank root,
                    int most) {
    std::vector<bool> seen(to_index(ranks));
    std::vector<Rank> queue{root};
    seen[to_index(root)] = true;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const int link : uses.out_of(queue[i])) {
            const Rank to = links[static_cast<std::size_t>(link)].to;
            if (seen[to_index(to)] || uses.left(link) == 0) {
                continue;
            }
            seen[to_index(to)] = true;
            queue.push_back(to);
            if (!uses.flows(queue[i], queue[i], to, most)) {
                most = uses.flow(root, root, to, most);
            }
        }
    }
    return std::ssize(queue) < ranks ? 0 : most;
}

/// The next tree, after which `follow` are to come.
PackedTree grow(Uses& uses, const std::vector<FabricLink>& links, Rank ranks, Rank root,
                int follow) {
    PackedTree tree{root, std::vector<int>(to_index(ranks), -1)};
    std::vector<bool> in_tree(to_index(ranks));
    in_tree[to_index(root)] = true;
    std::vector<Rank> order{root};
    // In the order in which ranks joined, so that trees are shallow. A link that may not be taken
    // now may not later either: what is left only becomes less.
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Rank here = order[i];
        for (const int link : uses.out_of(here)) {
            const Rank to = links[static_cast<std::size_t>(link)].to;
            if (in_tree[to_index(to)] || uses.left(link) == 0) {
                continue;
            }
            uses.take(link);
            if (follow > 0 && !uses.flows(root, here, to, follow)) {
                uses.give_back(link);
                continue;
            }
            tree.entry[to_index(to)] = link;
            in_tree[to_index(to)] = true;
            order.push_back(to);
        }
    }
    if (std::ssize(order) < ranks) {
        throw Error(Status::internal, "no link extends a tree; please report this");
    }
    return tree;
}

}  // namespace

Packing pack_from_root(const Fabric& fabric, const std::vector<FabricLink>& links, Rank root,
                       double bound) {
    const Rank ranks = fabric.ranks();
    Packing packing{links, ranks, {}, false};
    std::vector<int> rates;
    for (const FabricLink& link : links) {
        rates.push_back(link.rate);
    }
    const int needed = least_needed_rate(links, rates, ranks, root);
    if (needed == 0) {
        return packing;
    }
    Copies best_copies;
    double best = 0;
    int count = 0;
    const auto look = [&](const Copies& copies) {
        constexpr int most_trees = 64;
        Uses uses(links, ranks, copies);
        const int trees = most_trees_from(uses, links, ranks, root, most_trees);
        if (copies.worth(trees) > best) {
            best = copies.worth(trees);
            best_copies = copies;
            count = trees;
        }
    };
    constexpr int most_copies = 10, most_tries = 4;
    const int least_copies = (Fabric::whole + needed - 1) / needed;  // with fewer there is no tree
    for (int m = least_copies; m <= most_copies && best * bound * close_to_bound < 1; ++m) {
        look({m});
    }
    const bool too_slow = count == 0;
    for (int m = 1; too_slow && m <= most_tries; ++m) {
        look({m, needed});
    }
    Uses uses(links, ranks, best_copies);
    for (int follow = count - 1; follow >= 0; --follow) {
        packing.trees.push_back(grow(uses, links, ranks, root, follow));
    }
    return packing;
}

}  // namespace trefoil
