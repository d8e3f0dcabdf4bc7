// SPDX-License-Identifier: BSD-3-Clause
// Trees from all ranks. As many of them enter each rank, whatever their shapes, so all that is to
// be decided is through which of its links: a rank that leaves one link of its own for another one
// changes nobody else's loads.
#include <algorithm>
#include <cmath>

#include "algorithms/packing/trees.hpp"

namespace trefoil {

namespace {

class Balance {
  public:
    Balance(const std::vector<FabricLink>& links, Rank ranks, int per_rank)
        : links_(links), ranks_(ranks), in_(to_index(ranks)), load_(links.size()) {
        for (std::size_t i = 0; i < links.size(); ++i) {
            in_[to_index(links[i].to)].push_back(static_cast<int>(i));
        }
        for (int k = 0; k < per_rank; ++k) {
            for (Rank root = 0; root < ranks; ++root) {
                plant(root, k);
            }
        }
    }

    /// Moves entries until no link has more than `most` times its rate; whether that was possible.
    bool even_out(double most) {
        bool fits = true;
        for (Rank r = 0; r < ranks_; ++r) {
            for (const int link : in_[to_index(r)]) {
                for (std::size_t t = 0; t < trees_.size() && over(link, most, 0); ++t) {
                    if (trees_[t].entry[to_index(r)] == link) {
                        move(trees_[t], r, most);
                    }
                }
                fits = fits && !over(link, most, 0);
            }
        }
        return fits;
    }

    std::vector<PackedTree> take() { return std::move(trees_); }

  private:
    bool over(int link, double most, int more) const {
        return (load_[to_index(link)] + more) * static_cast<double>(Fabric::whole) >
               most * links_[to_index(link)].rate + 1e-6;
    }

    void plant(Rank root, int turn) {
        std::vector<int> hops(to_index(ranks_), -1);
        std::vector<std::vector<int>> out(to_index(ranks_));
        for (std::size_t i = 0; i < links_.size(); ++i) {
            out[to_index(links_[i].from)].push_back(static_cast<int>(i));
        }
        PackedTree tree{root, std::vector<int>(to_index(ranks_), -1)};
        std::vector<Rank> queue{root};
        hops[to_index(root)] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (const int link : out[to_index(queue[i])]) {
                const Rank to = links_[to_index(link)].to;
                if (hops[to_index(to)] < 0) {
                    hops[to_index(to)] = hops[to_index(queue[i])] + 1;
                    queue.push_back(to);
                }
            }
        }
        for (const Rank rank : queue) {
            int best = -1;
            const auto& in = in_[to_index(rank)];
            for (std::size_t k = 0; k < in.size() && rank != root; ++k) {
                const int link = in[(k + to_index(turn)) % in.size()];
                const bool nearer =
                    hops[to_index(links_[to_index(link)].from)] < hops[to_index(rank)];
                if (nearer && (best < 0 || weight(link) < weight(best))) {
                    best = link;
                }
            }
            tree.entry[to_index(rank)] = best;
            if (best >= 0) {
                ++load_[to_index(best)];
            }
        }
        trees_.push_back(std::move(tree));
    }

    double weight(int link) const {
        return (load_[to_index(link)] + 1) / static_cast<double>(links_[to_index(link)].rate);
    }

    /// Whether `rank` is on the way from the root to `below`, and how long that is.
    int depth_without(const PackedTree& tree, Rank below, Rank rank) const {
        int depth = 0;
        for (Rank here = below; here != tree.root; ++depth) {
            if (here == rank) {
                return -1;
            }
            here = links_[to_index(tree.entry[to_index(here)])].from;
        }
        return depth;
    }

    void move(PackedTree& tree, Rank rank, double most) {
        int best = -1, least = 0;
        for (const int link : in_[to_index(rank)]) {
            if (over(link, most, 1)) {
                continue;
            }
            const int depth = depth_without(tree, links_[to_index(link)].from, rank);
            if (depth >= 0 && (best < 0 || depth < least)) {
                best = link;
                least = depth;
            }
        }
        if (best >= 0) {
            --load_[to_index(tree.entry[to_index(rank)])];
            ++load_[to_index(best)];
            tree.entry[to_index(rank)] = best;
        }
    }

    const std::vector<FabricLink>& links_;
    Rank ranks_;
    std::vector<std::vector<int>> in_;  ///< by rank: links into it
    std::vector<int> load_;             ///< by link
    std::vector<PackedTree> trees_;
};

}  // namespace

Packing pack_from_all(const Fabric& fabric, const std::vector<FabricLink>& links, double bound) {
    const Rank ranks = fabric.ranks();
    Packing packing{links, ranks, {}, false};
    constexpr int most_turns = 8;
    double best = 0;  // time by bound
    for (int k = 1; k <= most_turns && (best == 0 || best > close_to_bound); ++k) {
        if (k > 1 && k * static_cast<double>(ranks) * ranks > 1e6) {
            break;
        }
        const double least = k * ranks * bound;
        Balance balance(links, ranks, k);
        // Loads are whole numbers: a whole link's is the next one, a slow link's may come first.
        double most = std::max(1.0, least);
        for (int tries = 0; tries < 4 * ranks && !balance.even_out(most); ++tries) {
            most = tries == 0 && most < std::ceil(most) ? std::ceil(most) : most + 0.5;
        }
        Packing one{links, ranks, balance.take(), false};
        const double time = one.time(1.0 / (static_cast<double>(k) * ranks)) / bound;
        if (best == 0 || time < best - 1e-9) {
            best = time;
            packing = std::move(one);
        }
    }
    return packing;
}

}  // namespace trefoil
