// SPDX-License-Identifier: BSD-3-Clause
// The search for groups that let the links of a tree and of its mirror image share the load.
#include "algorithms/trees/tree_fold.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
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

void find_fold(const Groups& groups, Rank size, TreeFold& fold) {
    fold.centre.clear();
    fold.member.clear();
    Rank at = groups.two[0] != 0 && groups.last[0] != 0 ? size - 1 : 0;
    for (std::size_t g = 0; g < groups.two.size(); ++g) {
        const Rank next = at + 1 == size ? 0 : at + 1;
        const bool two = groups.two[g] != 0;
        const bool last = two && groups.last[g] != 0;
        fold.centre.push_back(last ? next : at);
        fold.member.push_back(!two ? TreeFold::none : last ? at : next);
        at = !two ? next : next + 1 == size ? 0 : next + 1;
    }
}

/// Loads of the links of a ring in one step: from x to x + 1, and back.
class StepLoads {
  public:
    explicit StepLoads(Rank size) : size_(size), up_(size + 1, 0), down_(size + 1, 0) {}

    void clear() {
        std::ranges::fill(up_, 0);
        std::ranges::fill(down_, 0);
        most_hops_ = 0;
    }

    void add(Rank from, Rank to, std::int64_t weight) {
        const Rank ahead = to >= from ? to - from : to - from + size_;
        most_hops_ = std::max(most_hops_, std::min(ahead, size_ - ahead));
        if (2 * std::int64_t{ahead} < size_) {
            add(up_, from, ahead, weight);
        } else {
            add(down_, to, size_ - ahead, weight);
        }
    }

    Rank most_hops() const { return most_hops_; }

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
    Rank most_hops_ = 0;
    std::vector<std::int64_t> up_, down_;
};

class FoldSearch {
  public:
    FoldSearch(Rank size, TreeKind::Distance distance, TreeKind::Cut cut)
        : size_(size),
          groups_(FoldedRing(size, 2).groups()),
          blocks_(cut == TreeKind::Cut::own_blocks),
          below_(groups_),
          loads_(size) {
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
        Groups best = even(size_ / 2, false);  // as even_fold()
        Cost least = cost(best);
        std::vector<Groups> starts{best};
        const auto stride = static_cast<Rank>(
            std::min<std::int64_t>(1 + 4 * std::int64_t{groups_} / (trials_ + 1), groups_));
        for (Rank turn = 0; turn < groups_; turn += stride) {
            for (const bool last : {false, true}) {
                starts.push_back(even(size_ / 2 + turn, last));
            }
        }
        for (const bool descends : {false, true}) {
            for (const Groups& start : starts) {
                current_ = start;
                current_cost_ = cost(start);
                for (bool better = descends; better;) {
                    better = improve();
                }
                if (current_cost_ < least) {
                    least = current_cost_;
                    best = current_;
                }
            }
            starts.insert(starts.begin(), best);  // descends first
        }
        find_fold(best, size_, fold_);
        return fold_;
    }

  private:
    /// The largest loads and the longest ways, summed over the steps.
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

    /// Where the loads are more than `most`, at least so much.
    Cost cost(const Groups& groups, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
        find_fold(groups, size_, fold_);
        for (Rank g = 0; g < groups_; ++g) {
            below_[g] = groups.two[g] != 0 ? 2 : 1;
        }
        for (auto step = edges_.rbegin(); step != edges_.rend(); ++step) {
            for (const auto& [from, to] : *step) {
                below_[from] += below_[to];
            }
        }
        Cost sum{0, 1};
        loads_.clear();
        for (Rank g = 0; g < groups_; ++g) {
            if (fold_.member[g] != TreeFold::none) {
                loads_.add(fold_.centre[g], fold_.member[g], 1);
            }
        }
        sum.first += loads_.largest_with_mirror();
        for (const auto& step : edges_) {
            if (sum.first > most) {
                return sum;
            }
            loads_.clear();
            for (const auto& [from, to] : step) {
                loads_.add(fold_.centre[from], fold_.centre[to], blocks_ ? below_[to] : 1);
            }
            sum.first += loads_.largest_with_mirror();
            sum.second += loads_.most_hops();
        }
        return sum;
    }

    /// Looks at what `change` makes of the current groups, and keeps it if it is better.
    template <typename Change, typename Undo>
    bool try_change(Change&& change, Undo&& undo) {
        if (--trials_ < 0) {
            return false;
        }
        change();
        const Cost found = cost(current_, current_cost_.first);
        if (found >= current_cost_) {
            undo();
            return false;
        }
        current_cost_ = found;
        return true;
    }

    /// Another centre for one group, or one member moved to another group.
    bool improve() {
        for (Rank g = 0; g < groups_; ++g) {
            char& last = current_.last[g];
            const auto flip = [&] { last = last != 0 ? 0 : 1; };
            if (current_.two[g] != 0 && try_change(flip, flip)) {
                return true;
            }
        }
        for (Rank from = 0; from < groups_ && trials_ > 0; ++from) {
            for (Rank to = 0; current_.two[from] != 0 && to < groups_ && trials_ > 0; ++to) {
                if (current_.two[to] != 0) {
                    continue;
                }
                for (const bool last : {false, true}) {
                    const char before = current_.last[to];
                    const auto set = [&](char from_two, char to_two, char to_last) {
                        current_.two[from] = from_two;
                        current_.two[to] = to_two;
                        current_.last[to] = to_last;
                    };
                    if (try_change([&] { set(0, 1, last ? 1 : 0); }, [&] { set(1, 0, before); })) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /// Links looked at; keeps a search within milliseconds.
    static constexpr std::int64_t work_limit = 300000;

    Rank size_;
    Rank groups_;
    bool blocks_;
    std::vector<std::vector<std::pair<Rank, Rank>>> edges_;  // by step
    std::int64_t trials_ = 0;
    Groups current_;
    Cost current_cost_;
    // Of the cost that is being found:
    TreeFold fold_;
    std::vector<std::int64_t> below_;
    StepLoads loads_;
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

TreeFold balanced_fold(Rank size, TreeKind::Distance distance, TreeKind::Cut cut) {
    static std::mutex mutex;
    static std::map<std::tuple<Rank, TreeKind::Distance, TreeKind::Cut>, TreeFold> folds;
    const std::lock_guard lock(mutex);
    TreeFold& fold = folds[{size, distance, cut}];
    if (fold.centre.empty()) {
        fold = FoldSearch(size, distance, cut).run();
    }
    return fold;
}

}  // namespace trefoil
