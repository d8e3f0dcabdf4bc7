// SPDX-License-Identifier: BSD-3-Clause
// The search for groups that let the links of a tree and of its mirror image share the load.
#include "algorithms/trees/tree_fold.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
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
    fold.centre.resize(groups.two.size());
    fold.member.resize(groups.two.size());
    Rank at = groups.two[0] != 0 && groups.last[0] != 0 ? size - 1 : 0;
    for (std::size_t g = 0; g < groups.two.size(); ++g) {
        const Rank next = at + 1 == size ? 0 : at + 1;
        const bool two = groups.two[g] != 0;
        const bool last = two && groups.last[g] != 0;
        fold.centre[g] = last ? next : at;
        fold.member[g] = !two ? TreeFold::none : last ? at : next;
        at = !two ? next : next + 1 == size ? 0 : next + 1;
    }
}

/// Loads of the links of a ring in one step, with those of its mirror image (x -> -x): what goes
/// from x to x + 1 there is what goes from -x to -x - 1 here.
class FoldLoads {
  public:
    explicit FoldLoads(Rank size) : size_(size), differences_(static_cast<std::size_t>(size) + 1) {}

    void clear() {
        std::ranges::fill(differences_, 0);
        most_hops_ = 0;
    }

    void add(Rank from, Rank to, Rank weight) {
        const Rank ahead = to >= from ? to - from : to - from + size_;
        const bool up = ahead < size_ - ahead;
        const Rank hops = up ? ahead : size_ - ahead;
        most_hops_ = std::max(most_hops_, hops);
        const Rank first = up || from == 0 ? from : size_ - from;
        const Rank end = first + hops;
        differences_[static_cast<std::size_t>(first)] += weight;
        if (end > size_) {
            differences_[0] += weight;
        }
        differences_[static_cast<std::size_t>(end > size_ ? end - size_ : end)] -= weight;
    }

    Rank most_hops() const { return most_hops_; }

    Rank largest() const {
        Rank load = 0, largest = 0;
        for (Rank x = 0; x < size_; ++x) {
            load += differences_[static_cast<std::size_t>(x)];
            largest = std::max(largest, load);
        }
        return largest;
    }

  private:
    Rank size_;
    Rank most_hops_ = 0;
    std::vector<Rank> differences_;  // from one link to the next
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
        // A message carries one block for each group below at least.
        std::vector<Rank> groups_below(groups_, 1);
        least_.assign(edges_.size() + 1, 1);
        for (std::size_t step = edges_.size(); blocks_ && step-- > 0;) {
            for (const auto& [from, to] : edges_[step]) {
                least_[step] = std::max(least_[step], groups_below[to]);
                groups_below[from] += groups_below[to];
            }
        }
        order_.resize(least_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }

    TreeFold run() {
        Groups best = even(size_ / 2, false);  // as even_fold()
        find_order(best);
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
        if (blocks_) {
            for (Rank g = 0; g < groups_; ++g) {
                below_[g] = groups.two[g] != 0 ? 2 : 1;
            }
            for (auto step = edges_.rbegin(); step != edges_.rend(); ++step) {
                for (const auto& [from, to] : *step) {
                    below_[from] += below_[to];
                }
            }
        }
        Cost sum{std::accumulate(least_.begin(), least_.end(), std::int64_t{0}), 0};
        for (const std::size_t step : order_) {
            if (sum.first > most) {
                return sum;
            }
            load_links(step);
            sum.first += loads_.largest() - least_[step];
            sum.second += loads_.most_hops();
        }
        return sum;
    }

    /// The last step is that inside groups.
    void load_links(std::size_t step) {
        loads_.clear();
        if (step < edges_.size()) {
            for (const auto& [from, to] : edges_[step]) {
                loads_.add(fold_.centre[from], fold_.centre[to], blocks_ ? below_[to] : 1);
            }
            return;
        }
        for (Rank g = 0; g < groups_; ++g) {
            if (fold_.member[g] != TreeFold::none) {
                loads_.add(fold_.centre[g], fold_.member[g], 1);
            }
        }
    }

    /// In which order steps tell soonest that groups are too bad: `groups` load the first one most.
    void find_order(const Groups& groups) {
        cost(groups);
        std::vector<Rank> loads;
        for (std::size_t step = 0; step <= edges_.size(); ++step) {
            load_links(step);
            loads.push_back(loads_.largest());
        }
        std::ranges::stable_sort(order_, std::ranges::greater(),
                                 [&](std::size_t step) { return loads[step]; });
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
    std::vector<Rank> least_;         // loads of steps, that inside groups being the last
    std::vector<std::size_t> order_;  // of steps
    std::int64_t trials_ = 0;
    Groups current_;
    Cost current_cost_;
    // Of the cost that is being found:
    TreeFold fold_;
    std::vector<Rank> below_;
    FoldLoads loads_;
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
    static auto& folds =
        *new std::map<std::tuple<Rank, TreeKind::Distance, TreeKind::Cut>, TreeFold>;
    const std::lock_guard lock(mutex);
    TreeFold& fold = folds[{size, distance, cut}];
    if (fold.centre.empty()) {
        fold = FoldSearch(size, distance, cut).run();
    }
    return fold;
}

}  // namespace trefoil
