// SPDX-License-Identifier: BSD-3-Clause
// The search for groups that let the links of a tree and of its mirror image share the load.
#include "algorithms/trees/tree_fold.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "algorithms/rings/folded_ring.hpp"
#include "algorithms/rings/halving_ring.hpp"

namespace trefoil {

namespace {

/// Which groups have two members, and of these, whose centre is the second.
struct Groups {
    std::vector<char> two;
    std::vector<char> last;
};

TreeFold fold_of(const Groups& groups, Rank size) {
    TreeFold fold;
    Rank at = groups.two[0] != 0 && groups.last[0] != 0 ? size - 1 : 0;
    for (std::size_t g = 0; g < groups.two.size(); ++g) {
        const Rank next = (at + 1) % size;
        const bool two = groups.two[g] != 0;
        const bool last = two && groups.last[g] != 0;
        fold.centre.push_back(last ? next : at);
        fold.member.push_back(!two ? TreeFold::none : last ? at : next);
        at = two ? (next + 1) % size : next;
    }
    return fold;
}

/// Loads of the links of a ring in one step: from x to x + 1, and back.
class StepLoads {
  public:
    explicit StepLoads(Rank size) : size_(size), up_(size + 1, 0), down_(size + 1, 0) {}

    void add(Rank from, Rank to, std::int64_t weight) {
        const Rank ahead = to >= from ? to - from : to - from + size_;
        if (2 * std::int64_t{ahead} < size_) {
            add(up_, from, ahead, weight);
        } else {
            add(down_, to, size_ - ahead, weight);
        }
    }

    /// The largest load with the mirror image (x -> -x): a link from x to x + 1 becomes one from
    /// -x to -x - 1.
    std::int64_t largest_with_mirror() {
        for (Rank x = 1; x < size_; ++x) {
            up_[x] += up_[x - 1];
            down_[x] += down_[x - 1];
        }
        std::int64_t largest = 0;
        for (Rank x = 0; x < size_; ++x) {
            largest = std::max(largest, up_[x] + down_[size_ - 1 - x]);
        }
        return largest;
    }

  private:
    /// As differences from one link to the next.
    void add(std::vector<std::int64_t>& way, Rank first, Rank links, std::int64_t weight) const {
        const Rank end = first + links;
        way[first] += weight;
        if (end > size_) {
            way[0] += weight;
        }
        way[end > size_ ? end - size_ : end] -= weight;
    }

    Rank size_;
    std::vector<std::int64_t> up_, down_;
};

class FoldSearch {
  public:
    FoldSearch(Rank size, TreeKind::Distance distance)
        : size_(size), groups_(FoldedRing(size, 2).groups()) {
        const int steps = halving_steps(groups_);
        std::vector<Rank> reached{0};
        std::vector<char> seen(groups_, 0);
        seen[0] = 1;
        for (int step = 0; step < steps; ++step) {
            const bool doubling = distance == TreeKind::Distance::doubling;
            const std::int64_t rho = swing_distance(doubling ? step : steps - 1 - step);
            edges_.emplace_back();
            for (std::size_t i = 0, before = reached.size(); i < before; ++i) {
                const Rank from = reached[i];
                const std::int64_t sum = from + (from % 2 == 0 ? rho : -rho);
                const auto to = static_cast<Rank>((sum % groups_ + groups_) % groups_);
                if (seen[to] == 0) {
                    seen[to] = 1;
                    edges_.back().emplace_back(from, to);
                    reached.push_back(to);
                }
            }
        }
        trials_ = work_limit / (std::int64_t{size} * (steps + 1));
    }

    TreeFold run() {
        best_ = even(size_ / 2, false);  // as even_fold()
        least_ = cost(best_);
        const auto stride = static_cast<Rank>(
            std::min<std::int64_t>(1 + 4 * std::int64_t{groups_} / (trials_ + 1), groups_));
        for (Rank turn = 0; turn < groups_; turn += stride) {
            for (const bool last : {false, true}) {
                try_groups(even(size_ / 2 + turn, last));
            }
        }
        while (improve()) {
        }
        return fold_of(best_, size_);
    }

  private:
    /// Of whole vectors, and of blocks for all.
    using Cost = std::pair<std::int64_t, std::int64_t>;

    Groups even(Rank turn, bool last) const {
        Groups groups;
        const auto begin = [&](Rank g) { return (std::int64_t{g} * size_ + turn) / groups_; };
        for (Rank g = 0; g < groups_; ++g) {
            groups.two.push_back(begin(g + 1) - begin(g) == 2 ? 1 : 0);
            groups.last.push_back(last ? 1 : 0);
        }
        return groups;
    }

    Cost cost(const Groups& groups) const {
        const TreeFold fold = fold_of(groups, size_);
        std::vector<std::int64_t> below(groups_);
        for (Rank g = 0; g < groups_; ++g) {
            below[g] = groups.two[g] != 0 ? 2 : 1;
        }
        for (auto step = edges_.rbegin(); step != edges_.rend(); ++step) {
            for (const auto& [from, to] : *step) {
                below[from] += below[to];
            }
        }
        Cost sum{0, 0};
        for (const auto& step : edges_) {
            StepLoads vectors(size_);
            StepLoads blocks(size_);
            for (const auto& [from, to] : step) {
                vectors.add(fold.centre[from], fold.centre[to], 1);
                blocks.add(fold.centre[from], fold.centre[to], below[to]);
            }
            sum.first += vectors.largest_with_mirror();
            sum.second += blocks.largest_with_mirror();
        }
        StepLoads members(size_);
        for (Rank g = 0; g < groups_; ++g) {
            if (fold.member[g] != TreeFold::none) {
                members.add(fold.centre[g], fold.member[g], 1);
            }
        }
        const std::int64_t last = members.largest_with_mirror();
        return {sum.first + last, sum.second + last};
    }

    bool try_groups(Groups groups) {
        if (--trials_ < 0) {
            return false;
        }
        const Cost found = cost(groups);
        if (found >= least_) {
            return false;
        }
        least_ = found;
        best_ = std::move(groups);
        return true;
    }

    /// Another centre for one group, or one member moved to another group.
    bool improve() {
        for (Rank g = 0; g < groups_; ++g) {
            Groups groups = best_;
            groups.last[g] = groups.last[g] != 0 ? 0 : 1;
            if (groups.two[g] != 0 && try_groups(std::move(groups))) {
                return true;
            }
        }
        for (Rank from = 0; from < groups_ && trials_ > 0; ++from) {
            for (Rank to = 0; best_.two[from] != 0 && to < groups_ && trials_ > 0; ++to) {
                for (const bool last : {false, true}) {
                    Groups groups = best_;
                    groups.two[from] = 0;
                    groups.two[to] = 1;
                    groups.last[to] = last ? 1 : 0;
                    if (best_.two[to] == 0 && try_groups(std::move(groups))) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /// Links looked at; keeps a search within tens of milliseconds.
    static constexpr std::int64_t work_limit = 1000000;

    Rank size_;
    Rank groups_;
    std::vector<std::vector<std::pair<Rank, Rank>>> edges_;  // by step
    std::int64_t trials_ = 0;
    Groups best_;
    Cost least_;
};

}  // namespace

TreeFold even_fold(Rank size) {
    const FoldedRing ring(size, 2);
    TreeFold fold;
    for (Rank g = 0; g < ring.groups(); ++g) {
        const Rank centre = ring.centre(g);
        fold.centre.push_back(centre);
        fold.member.push_back(centre + 1 < ring.first(g + 1) ? centre + 1 : TreeFold::none);
    }
    return fold;
}

TreeFold balanced_fold(Rank size, TreeKind::Distance distance) {
    static std::mutex mutex;
    static std::map<std::pair<Rank, TreeKind::Distance>, TreeFold> folds;
    const std::lock_guard lock(mutex);
    TreeFold& fold = folds[{size, distance}];
    if (fold.centre.empty()) {
        fold = FoldSearch(size, distance).run();
    }
    return fold;
}

}  // namespace trefoil
