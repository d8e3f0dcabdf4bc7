// SPDX-License-Identifier: BSD-3-Clause
// A tree is a level for each rank, the step in which it is reached, and a matching for each level.
//
// For given numbers of steps and hops of each step the search wants levels such that each rank of a
// level can be matched with a port of its own of a rank of a lower level, within the hops of the
// step. It begins with ranks that are far from each other, and then changes levels, one or two at a
// time, as long as some ranks have no match (simulated annealing at one temperature).
#include "algorithms/search/few_step_tree.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "algorithms/search/hop_shares.hpp"
#include "algorithms/search/port_matching.hpp"
#include "algorithms/search/prices.hpp"

namespace trefoil {

namespace {

/// Marsaglia's xorshift: the same numbers on every machine.
class Numbers {
  public:
    std::size_t below(std::size_t limit) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::size_t>((state_ >> 20) % limit);
    }

  private:
    std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

class LevelSearch {
  public:
    LevelSearch(const WayTable& ways, const std::vector<std::vector<Rank>>& near, Rank root,
                const std::vector<int>& hops, int per_port, std::int64_t work)
        : ways_(ways),
          root_(root),
          hops_(hops),
          per_port_(per_port),
          work_(work),
          last_(static_cast<int>(hops.size())),
          level_(to_index(ways.ranks()), last_),
          near_(near),
          matching_(ways, per_port, to_index(ways.ranks())) {
        level_[to_index(root)] = 0;
    }

    std::optional<FewStepTree> find() {
        spread_out();
        int open = match();
        while (open > 0 && work_ > 0) {
            const std::vector<int> before = level_;
            change();
            const int now = match();
            if (now > open && numbers_.below(to_index(20)) >= (now == open + 1 ? 1U : 0U)) {
                level_ = before;
            } else {
                open = now;
            }
        }
        return open == 0 ? std::optional(tree()) : std::nullopt;
    }

  private:
    static constexpr int nobody = PortMatching::nobody;

    /// Levels before the last one: through every port that has somebody in reach, to the rank that
    /// is farthest from all that have been reached.
    void spread_out() {
        std::vector<int> away(level_.size());
        for (Rank r = 0; r < ways_.ranks(); ++r) {
            away[to_index(r)] = ways_.hops(root_, r);
        }
        for (int s = 1; s < last_; ++s) {
            std::vector<bool> used(to_index(ways_.ranks() * ways_.ports() * per_port_));
            while (true) {
                Rank best = nobody;
                int slot = nobody;
                for (Rank r = 0; r < ways_.ranks(); ++r) {
                    if (level_[to_index(r)] == last_ &&
                        (best < 0 || away[to_index(r)] > away[to_index(best)])) {
                        const int found = free_slot(r, s, used);
                        best = found >= 0 ? r : best;
                        slot = found >= 0 ? found : slot;
                    }
                }
                if (best < 0) {
                    break;
                }
                used[to_index(slot)] = true;
                level_[to_index(best)] = s;
                for (Rank r = 0; r < ways_.ranks(); ++r) {
                    away[to_index(r)] = std::min(away[to_index(r)], ways_.hops(best, r));
                }
            }
        }
    }

    int free_slot(Rank to, int level, const std::vector<bool>& used) const {
        int found = nobody;
        for_each_slot(to, level, [&](int slot) {
            found = used[to_index(slot)] ? nobody : slot;
            return found >= 0;
        });
        return found;
    }

    /// Ports of lower ranks in reach, the nearest first, until the visitor is content.
    template <typename Visit>
    void for_each_slot(Rank to, int level, Visit&& visit) const {
        const int reach = hops_[to_index(level - 1)];
        for (const Rank from : near_[to_index(to)]) {
            if (ways_.hops(from, to) > reach) {
                return;
            }
            if (level_[to_index(from)] >= level) {
                continue;
            }
            if (matching_.each(from, ways_.ports_between(from, to), visit)) {
                return;
            }
        }
    }

    /// How many ranks find no port.
    int match() {
        open_.clear();
        for (int s = 1; s <= last_; ++s) {
            matching_.clear();
            for (Rank r = 0; r < ways_.ranks(); ++r) {
                if (level_[to_index(r)] == s &&
                    !matching_.add(
                        r, [&](Rank to, auto&& visit) { for_each_slot(to, s, visit); }, work_)) {
                    open_.push_back(r);
                }
            }
        }
        return static_cast<int>(open_.size());
    }

    Rank somebody() {
        const auto r = static_cast<Rank>(numbers_.below(level_.size() - 1));
        return r < root_ ? r : r + 1;
    }

    void change() {
        const Rank a = open_[numbers_.below(open_.size())];
        const Rank b = somebody();
        const std::size_t kind = numbers_.below(4);
        if (kind < 2) {
            std::swap(level_[to_index(a)], level_[to_index(b)]);
        } else {
            level_[to_index(kind == 2 ? a : b)] =
                1 + static_cast<int>(numbers_.below(hops_.size()));
        }
        if (kind == 1) {
            std::swap(level_[to_index(somebody())], level_[to_index(somebody())]);
        }
    }

    FewStepTree tree() const {
        FewStepTree tree;
        tree.steps = last_;
        tree.per_port = per_port_;
        for (int s = 1; s <= last_; ++s) {
            int longest = 0;
            for (Rank r = 0; r < ways_.ranks(); ++r) {
                if (level_[to_index(r)] == s) {
                    const Rank from = matching_.sender(r);
                    tree.messages.push_back({from, r, matching_.port(r), s - 1});
                    longest = std::max(longest, ways_.hops(from, r));
                }
            }
            tree.hops += longest;
        }
        return tree;
    }

    const WayTable& ways_;
    const Rank root_;
    const std::vector<int>& hops_;  ///< by step
    const int per_port_;
    std::int64_t work_;
    const int last_;
    std::vector<int> level_;                      ///< by rank; of the root 0
    const std::vector<std::vector<Rank>>& near_;  ///< by receiver: all ranks, the nearest first
    PortMatching matching_;                       ///< by receiver, of all levels in turn
    std::vector<Rank> open_;
    Numbers numbers_;
};

constexpr int most_detours = 2;

/// If the root and those who have the most ports send through all of them in every step.
int fewest_steps(const WayTable& ways, Rank root, int per_port) {
    std::vector<std::int64_t> sent;  // by those who have been reached, and the others behind them
    for (Rank r = 0; r < ways.ranks(); ++r) {
        sent.push_back(per_port * std::popcount(ways.ports_of(r)));
    }
    std::swap(sent[0], sent[to_index(root)]);
    std::sort(sent.begin() + 1, sent.end(), std::greater());
    int steps = 0;
    for (std::int64_t reached = 1; reached < ways.ranks(); ++steps) {
        reached += std::accumulate(sent.begin(), sent.begin() + reached, std::int64_t{0});
    }
    return steps;
}

constexpr std::size_t most_shares = 8;

}  // namespace

FewStepTree find_few_step_tree(const WayTable& ways, Rank root, int times, std::int64_t work) {
    if (ways.ranks() == 1) {
        return {};
    }
    const int farthest = ways.eccentricity(root);
    const std::vector<std::vector<Rank>> near = ways.nearest();
    std::vector<int> fewest(1);  // by messages through a port
    for (int per_port = 1; per_port <= most_per_port; ++per_port) {
        fewest.push_back(fewest_steps(ways, root, per_port));
    }
    // What is tried first may look at all that `work` allows; the longer nothing is found, the
    // less.
    std::int64_t left = 4 * work;
    for (int price = 1;; ++price) {
        for (int per_port = 1; per_port <= most_per_port; ++per_port) {
            const int rest = price - further_message_in_hops / times * (per_port - 1);
            for (int steps = fewest[to_index(per_port)]; steps * step_in_hops < rest; ++steps) {
                const int hops = rest - steps * step_in_hops;
                if (hops < std::max(farthest, steps) || hops > farthest + most_detours + steps) {
                    continue;
                }
                // Balls of ranks grow alike from step to step.
                const auto shares =
                    hop_shares(steps, hops, ways.ports() * per_port + 1, most_shares);
                for (const std::vector<int>& share : shares) {
                    const std::int64_t looks = std::min(work / std::ssize(shares), 1 + left / 16);
                    left -= std::min(left, looks);
                    auto tree = LevelSearch(ways, near, root, share, per_port, looks).find();
                    if (tree) {
                        return *tree;
                    }
                }
            }
        }
    }
}

}  // namespace trefoil
