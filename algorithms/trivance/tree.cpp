// SPDX-License-Identifier: BSD-3-Clause
// The search for Trivance's reduction trees: distances by descent, offsets moved to early steps.
#include "algorithms/trivance/tree.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "algorithms/trivance/runs.hpp"

namespace trefoil {

namespace {

/// Builds the tree for given distances, shortest first.
class TreeBuilder {
  public:
    TreeBuilder(Rank size, std::vector<Rank> distances)
        : size_(size),
          steps_(static_cast<int>(distances.size())),
          distances_(std::move(distances)) {}

    /// False when the distances do not reach every offset.
    bool build() {
        place();
        if (static_cast<Rank>(placed_.size()) != size_) {
            return false;
        }
        move_to_early_steps();
        return true;
    }

    TrivanceTree take() {
        TrivanceTree tree{size_, std::move(distances_), std::move(levels_), {}, 0, true};
        choose_signs(tree);
        return tree;
    }

    const std::vector<Rank>& distances() const { return distances_; }
    const std::vector<int>& levels() const { return levels_; }

  private:
    Rank wrap(Rank offset) const {
        return offset < 0 ? offset + size_ : offset >= size_ ? offset - size_ : offset;
    }

    /// Every offset gets the latest step possible.
    void place() {
        levels_.assign(size_, -1);
        levels_[0] = steps_;
        placed_ = {0};
        for (int k = steps_ - 1; k >= 0; --k) {
            const std::size_t parents = placed_.size();
            for (std::size_t i = 0; i < parents; ++i) {
                for (const int sign : {1, -1}) {
                    const Rank child = wrap(placed_[i] + sign * distances_[k]);
                    if (levels_[child] < 0) {
                        levels_[child] = k;
                        placed_.push_back(child);
                    }
                }
            }
        }
    }

    /// Late steps travel far, so offsets that no other needs there move to the earliest step in
    /// which they find a parent; farthest steps first, until nothing moves.
    void move_to_early_steps() {
        visits_.resize(static_cast<std::size_t>(size_ - 1));
        for (Rank v = 0; v < size_ - 1; ++v) {
            visits_[static_cast<std::size_t>(v)] = static_cast<char>(levels_[visited(v)]);
        }
        const char* const end = visits_.data() + visits_.size();
        const auto next = [&](const char* from, int k) {
            const auto left = static_cast<std::size_t>(end - from);
            return static_cast<const char*>(std::memchr(from, k, left));
        };
        bool moved = true;
        while (moved) {
            moved = false;
            for (int k = steps_ - 1; k >= 1; --k) {
                for (const char* at = next(visits_.data(), k); at != nullptr;
                     at = next(at + 1, k)) {
                    const auto visit = static_cast<Rank>(at - visits_.data());
                    const Rank offset = visited(visit);
                    if (move(offset)) {
                        visits_[static_cast<std::size_t>(visit)] =
                            static_cast<char>(levels_[offset]);
                        moved = true;
                    }
                }
            }
        }
    }

    /// The farthest first, either side in turns.
    Rank visited(Rank visit) const {
        const Rank i = size_ - 1 - visit;
        return i % 2 != 0 ? (i + 1) / 2 : size_ - i / 2;
    }

    bool move(Rank offset) {
        for (int k = 0; k < levels_[offset] && distances_[k] < distances_[levels_[offset]]; ++k) {
            const bool parent = levels_[wrap(offset + distances_[k])] > k ||
                                levels_[wrap(offset - distances_[k])] > k;
            if (parent && !needed_after(offset, k)) {
                levels_[offset] = k;
                return true;
            }
        }
        return false;
    }

    /// Does an offset of step `step` or later have no other parent than `offset`?
    bool needed_after(Rank offset, int step) const {
        for (int k = step; k < levels_[offset]; ++k) {
            for (const int sign : {1, -1}) {
                const Rank child = wrap(offset + sign * distances_[k]);
                const Rank other = wrap(child + sign * distances_[k]);
                if (levels_[child] == k && (other == offset || levels_[other] <= k)) {
                    return true;
                }
            }
        }
        return false;
    }

    /// Forced ones first; those that may go either way even out the two sides of their step.
    static void choose_signs(TrivanceTree& tree) {
        const Rank size = tree.size;
        tree.signs.assign(size, 0);
        std::vector<Rank> surplus(tree.distances.size(), 0);
        std::vector<Rank> free;
        for (Rank o = 1; o < size; ++o) {
            const int k = tree.levels[o];
            const Rank d = tree.distances[k];
            const bool right = tree.levels[(o - d + size) % size] > k;
            const bool left = tree.levels[(o + d) % size] > k;
            if (right && left) {
                free.push_back(o);
            } else {
                tree.signs[o] = static_cast<std::int8_t>(right ? 1 : -1);
                surplus[k] += tree.signs[o];
            }
        }
        for (const Rank o : free) {
            const int k = tree.levels[o];
            tree.signs[o] = static_cast<std::int8_t>(surplus[k] > 0 ? -1 : 1);
            surplus[k] += tree.signs[o];
        }
        tree.balanced = std::all_of(surplus.begin(), surplus.end(), [](Rank s) { return s == 0; });
    }

    Rank size_;
    int steps_;
    std::vector<Rank> distances_;
    std::vector<int> levels_;
    std::vector<Rank> placed_;
    std::vector<char> visits_;  // levels, in the order of visits
};

double fraction(std::int64_t held, Rank size) {
    return static_cast<double>(held) / static_cast<double>(size);
}

double power(double base, int exponent) {
    double product = base;
    for (int i = 1; i < exponent; ++i) {
        product *= base;
    }
    return product;
}

double load(const std::vector<Rank>& distances, const std::vector<int>& levels, int dimensions) {
    const std::size_t steps = distances.size();
    std::vector<std::int64_t> held(steps + 1, 0);
    for (const int level : levels) {
        held[level] += 1;
    }
    for (std::size_t k = steps; k-- > 0;) {
        held[k] += held[k + 1];
    }
    const auto share = [&](std::size_t k) {
        return power(fraction(held[k], static_cast<Rank>(levels.size())), dimensions);
    };
    double total = 0;
    for (std::size_t k = 0; k < steps; ++k) {
        total += distances[k] / 2.0 * (share(k) - share(k + 1));
    }
    return total;
}

constexpr double tolerance = 1e-9;

/// More dimensions make no difference to the choice.
constexpr int most_weighed = 4;

/// Descends from ceil(n/3), ceil(n/9), ..., which reaches every offset: each step leaves gaps of at
/// most a third. One distance is varied at a time, then two at a time by little.
class TreeSearch {
  public:
    TreeSearch(Rank size, int dimensions) : size_(size), dimensions_(dimensions) {}

    TrivanceTree run() {
        try_distances(thirds(false));
        try_distances(thirds(true));
        bool better = size_ > 2;
        while (better) {
            better = vary_one();
            better = vary_two() || better;
        }
        TreeBuilder builder(size_, best_);
        builder.build();
        return builder.take();
    }

  private:
    /// n/3, n/9, ... rounded up one after another, or rounded down where that reaches.
    std::vector<Rank> thirds(bool down) const {
        std::vector<Rank> distances(trivance_steps(size_));
        Rank rest = size_;
        for (std::size_t k = distances.size(); k-- > 0;) {
            rest = down ? std::max(rest / 3, 1) : (rest + 2) / 3;
            distances[k] = rest;
        }
        return distances;
    }

    bool vary_one() {
        bool better = false;
        for (std::size_t k = 0; k < best_.size(); ++k) {
            const std::vector<Rank> start = best_;
            const Rank step = std::max<Rank>(1, size_ / 512);
            for (Rank d = 1; 2 * d <= size_; d += step) {
                std::vector<Rank> varied = start;
                varied[k] = d;
                better = try_distances(std::move(varied)) || better;
            }
        }
        return better;
    }

    bool vary_two() {
        bool better = false;
        for (std::size_t k = 0; k < best_.size(); ++k) {
            for (std::size_t l = k + 1; l < best_.size(); ++l) {
                const std::vector<Rank> start = best_;
                for (int by = -3; by <= 3; ++by) {
                    for (int and_by = -3; and_by <= 3; ++and_by) {
                        std::vector<Rank> varied = start;
                        varied[k] += by;
                        varied[l] += and_by;
                        better = try_distances(std::move(varied)) || better;
                    }
                }
            }
        }
        return better;
    }

    bool try_distances(std::vector<Rank> distances) {
        std::sort(distances.begin(), distances.end());
        if (distances.empty() || distances.front() < 1 || 2 * distances.back() > size_ ||
            spent_ > offset_limit) {
            return false;
        }
        spent_ += size_;
        if (!may_be_better(distances) || !tried_.insert(distances).second) {
            return false;
        }
        TreeBuilder builder(size_, distances);
        if (!builder.build()) {
            return false;
        }
        const double found = load(builder.distances(), builder.levels(), dimensions_);
        if (!best_.empty() && found > best_load_ - tolerance) {
            return false;
        }
        best_load_ = found;
        best_ = std::move(distances);
        return true;
    }

    /// False where no tree of these distances, shortest first, reaches every offset with less load
    /// than the best one: most are ruled out so, which costs next to nothing.
    bool may_be_better(const std::vector<Rank>& distances) const {
        if (std::accumulate(distances.begin(), distances.end(), std::int64_t{0}) < size_ / 2) {
            return false;  // the offset on the other side of the ring is too far
        }
        if (best_.empty()) {
            return true;
        }
        // Whoever is held before a step stands for offsets no farther from it than the earlier
        // steps go together, and for three times as many with each step. As later steps travel
        // farther, who holds least loads least. Loads that are equal are not better, so that
        // rounding decides nothing here.
        double least = 0;
        std::int64_t reached = 1;
        Rank before = 0, together = 0;
        for (const Rank distance : distances) {
            const std::int64_t held = (size_ + reached - 1) / reached;
            least += (distance - before) / 2.0 * power(fraction(held, size_), dimensions_);
            before = distance;
            together += distance;
            reached = std::min<std::int64_t>(3 * reached, 2 * std::int64_t{together} + 1);
        }
        least -= before / 2.0 * power(fraction(1, size_), dimensions_);
        return least < best_load_;
    }

    /// Keeps the search within milliseconds.
    static constexpr std::int64_t offset_limit = 600000;

    Rank size_;
    int dimensions_;
    std::vector<Rank> best_;
    std::set<std::vector<Rank>> tried_;  // that might have been better once, and were or not
    double best_load_ = 0;
    std::int64_t spent_ = 0;
};

/// One step by base-3 digits over distance 1, then the tree of a third of the size, stretched.
TrivanceTree with_digit(const TrivanceTree& third) {
    TrivanceTree tree{3 * third.size, {1}, {}, {}, third.digits + 1, third.balanced};
    for (const Rank d : third.distances) {
        tree.distances.push_back(3 * d);
    }
    for (Rank o = 0; o < tree.size; ++o) {
        const Rank digit = o % 3;
        tree.levels.push_back(digit == 0 ? third.levels[o / 3] + 1 : 0);
        tree.signs.push_back(digit == 0 ? third.signs[o / 3]
                                        : static_cast<std::int8_t>(digit == 1 ? 1 : -1));
    }
    return tree;
}

bool is_power_of_three(Rank size) {
    while (size % 3 == 0) {
        size /= 3;
    }
    return size == 1;
}

/// What the search finds where machines have such rings and it takes long, in a torus of 1, 2, 3
/// and 4 such dimensions; empty: search.
std::vector<Rank> known_distances(Rank size, int dimensions) {
    using Distances = std::vector<Rank>;
    switch (size) {
        case 128:
            return dimensions == 1 ? Distances{1, 1, 5, 14, 43} : Distances{1, 1, 5, 15, 44};
        case 256: {
            static constexpr Rank known[][6] = {{1, 2, 2, 9, 29, 85},
                                                {1, 1, 4, 8, 29, 87},
                                                {1, 1, 5, 14, 28, 93},
                                                {1, 1, 5, 29, 43, 86}};
            return {std::begin(known[dimensions - 1]), std::end(known[dimensions - 1])};
        }
        case 512:
            return dimensions == 1 ? Distances{1, 2, 6, 19, 57, 171}
                                   : Distances{1, 2, 7, 19, 57, 171};
        case 1024:
            return {1, 1, 5, 13, 38, 114, 342};
        default:
            return {};
    }
}

TrivanceTree make_tree(Rank size, int dimensions) {
    if (size == 1) {
        return {1, {}, {0}, {0}, 0, true};
    }
    if (std::vector<Rank> known = known_distances(size, dimensions); !known.empty()) {
        TreeBuilder builder(size, std::move(known));
        builder.build();
        return builder.take();
    }
    if (size % 3 != 0) {
        return TreeSearch(size, dimensions).run();
    }
    TrivanceTree digits = with_digit(make_tree(size / 3, dimensions));
    if (is_power_of_three(size)) {
        return digits;
    }
    TrivanceTree searched = TreeSearch(size, dimensions).run();
    const bool shorter = trivance_tree_load(searched, dimensions) <
                         trivance_tree_load(digits, dimensions) - tolerance;
    return shorter ? searched : digits;
}

}  // namespace

double trivance_tree_load(const TrivanceTree& tree, int dimensions) {
    return load(tree.distances, tree.levels, dimensions);
}

TrivanceTree search_trivance_tree(Rank size, int dimensions) {
    return TreeSearch(size, dimensions).run();
}

std::shared_ptr<const TrivanceTree> trivance_tree(Rank size, int dimensions) {
    static std::mutex mutex;
    static auto& trees = *new std::map<std::pair<Rank, int>, std::shared_ptr<const TrivanceTree>>;
    const int weight = std::clamp(dimensions, 1, most_weighed);
    const std::lock_guard lock(mutex);
    std::shared_ptr<const TrivanceTree>& tree = trees[{size, weight}];
    if (!tree) {
        tree = std::make_shared<const TrivanceTree>(make_tree(size, weight));
    }
    return tree;
}

}  // namespace trefoil
