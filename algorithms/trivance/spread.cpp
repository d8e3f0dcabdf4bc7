// SPDX-License-Identifier: BSD-3-Clause
// Trivance plans whose windows are clusters spread around the ring.
//
// All steps but the last exchange whole windows, so the window W is {0, a, -b} + {0, c, -d} + ...
// The last step fills the gaps from W + e and W - f, leaving out pieces where they overlap.
//
//     n = 25, distances 1, 8, 3:     ###     ###     ###     W
//                                 +++     +++     +++        W - 3
//                                       +++     ++      +++  W + 3, a piece left out
#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "algorithms/trivance/runs.hpp"

namespace trefoil {

namespace {

constexpr Rank largest_size = 81;  // beyond, the search would take too long
using Offsets = std::bitset<largest_size>;

/// How far the runs from the right and from the left travel.
struct Distances {
    Rank right = 0;
    Rank left = 0;
    Rank farther() const { return std::max(right, left); }
};

class SpreadSearch {
  public:
    explicit SpreadSearch(Rank size) : size_(size), steps_(trivance_steps(size)) {
        for (Rank i = 0; i < size; ++i) {
            ring_.set(i);
        }
        window_.push_back(Offsets(1));
    }

    /// Total loads are tried in ascending order, so what is left for the last step is known.
    std::optional<TrivancePattern> run(Rank bound) {
        for (const Rank unevenness : {1, 8}) {
            unevenness_ = unevenness;
            trials_ = 0;
            for (Rank load = size_ / 2; load < bound; ++load) {
                if (choose(load)) {
                    bound = load;
                }
            }
        }
        return plan_;
    }

  private:
    static constexpr std::int64_t trial_limit = 20000;

    Offsets turned(const Offsets& offsets, Rank by) const {
        return by == 0 ? offsets : ((offsets << by) | (offsets >> (size_ - by))) & ring_;
    }
    Offsets from_right(const Offsets& offsets, Rank distance) const {
        return turned(offsets, distance);
    }
    Offsets from_left(const Offsets& offsets, Rank distance) const {
        return turned(offsets, size_ - distance);
    }

    /// Near powers of three, and near the ring's thirds, ninths, ...
    std::vector<Rank> candidates() const {
        std::set<Rank> found;
        for (Rank power = 1; power < size_; power *= 3) {
            for (int by = -1; by <= 2; ++by) {
                found.insert(power + std::min(by, 1));
                found.insert(size_ / power + by);
            }
        }
        std::vector<Rank> result;
        for (const Rank d : found) {
            if (d >= 1 && 2 * d < size_) {
                result.push_back(d);
            }
        }
        return result;
    }

    /// The window does not depend on the order of the whole steps: they are chosen ascending.
    bool choose(Rank load) {
        if (++trials_ > trial_limit) {
            return false;
        }
        if (static_cast<int>(chosen_.size()) == steps_ - 1) {
            return fill(load);
        }
        for (const Rank d : candidates_) {
            if (d >= load || (!chosen_.empty() && d < chosen_.back().farther())) {
                continue;
            }
            const bool farthest = static_cast<int>(chosen_.size()) == steps_ - 2;
            const Rank unevenness = farthest ? unevenness_ : 1;
            for (Rank shorter = std::max<Rank>(1, d - unevenness); shorter <= d; ++shorter) {
                if (add({d, shorter}, load) ||
                    (shorter < d && !chosen_.empty() && add({shorter, d}, load))) {
                    return true;
                }
            }
        }
        return false;
    }

    bool add(Distances d, Rank load) {
        const Offsets window = window_.back();
        const Offsets right = from_right(window, d.right);
        const Offsets left = from_left(window, d.left);
        if ((window & right).any() || (window & left).any() || (right & left).any()) {
            return false;
        }
        chosen_.push_back(d);
        window_.push_back(window | right | left);
        const bool found = choose(load - d.farther());
        window_.pop_back();
        chosen_.pop_back();
        return found;
    }

    bool fill(Rank farther) {
        if (2 * farther >= size_) {
            return false;
        }
        for (Rank shorter = std::max<Rank>(1, farther - 1); shorter <= farther; ++shorter) {
            if (fill(Distances{farther, shorter}) || fill(Distances{shorter, farther})) {
                return true;
            }
        }
        return false;
    }

    bool fill(Distances last) {
        const Offsets& window = window_.back();
        const Offsets reached =
            window | from_right(window, last.right) | from_left(window, last.left);
        if (reached != ring_) {
            return false;
        }
        std::vector<Distances> order = chosen_;
        const auto before = [](const Distances& a, const Distances& b) {
            return std::pair(a.right, a.left) < std::pair(b.right, b.left);
        };
        std::sort(order.begin(), order.end(), before);
        do {
            if (fill(order, last)) {
                return true;
            }
        } while (std::next_permutation(order.begin(), order.end(), before));
        return false;
    }

    /// A piece of the last step: from which side, its number and the offsets that it fills.
    struct Filling {
        int side = 1;
        std::size_t piece = 0;
        Offsets offsets;
    };

    /// The order of the steps decides which pieces there are to leave out.
    bool fill(const std::vector<Distances>& order, Distances last) {
        std::vector<Offsets> pieces{Offsets(1)};
        Offsets window(1);
        for (const Distances& d : order) {
            pieces.push_back(from_right(window, d.right));
            pieces.push_back(from_left(window, d.left));
            window |= pieces[pieces.size() - 1] | pieces[pieces.size() - 2];
        }
        std::vector<Filling> fillings;
        for (const int side : {1, -1}) {
            for (std::size_t i = 0; i < pieces.size(); ++i) {
                const Offsets filled =
                    side > 0 ? from_right(pieces[i], last.right) : from_left(pieces[i], last.left);
                if ((filled & window).none()) {
                    fillings.push_back({side, i, filled});
                }
            }
        }
        std::vector<Filling> taken;
        if (!cover(ring_ & ~window, fillings, taken)) {
            return false;
        }
        keep(order, last, taken);
        return true;
    }

    /// Takes fillings that cover `gaps` exactly; each gap has at most one filling from each side.
    static bool cover(const Offsets& gaps, const std::vector<Filling>& fillings,
                      std::vector<Filling>& taken) {
        if (gaps.none()) {
            return true;
        }
        std::size_t gap = 0;
        while (!gaps.test(gap)) {
            ++gap;
        }
        for (const Filling& f : fillings) {
            if (f.offsets.test(gap) && (f.offsets & ~gaps).none()) {
                taken.push_back(f);
                if (cover(gaps & ~f.offsets, fillings, taken)) {
                    return true;
                }
                taken.pop_back();
            }
        }
        return false;
    }

    void keep(const std::vector<Distances>& order, Distances last,
              const std::vector<Filling>& taken) {
        TrivancePattern plan{size_, {}};
        Rank width = 1;
        std::uint64_t pieces = 1;
        for (const Distances& d : order) {
            plan.steps.push_back({{+1, pieces, width, d.right}, {-1, pieces, width, d.left}});
            width *= 3;
            pieces = pieces << 2 | 3;
        }
        std::array<RunTransfer, 2> fill{RunTransfer{+1, 0, 0, last.right},
                                        RunTransfer{-1, 0, 0, last.left}};
        for (const Filling& f : taken) {
            RunTransfer& t = fill[f.side > 0 ? 0 : 1];
            t.pieces |= std::uint64_t{1} << f.piece;
            t.width += static_cast<Rank>(f.offsets.count());
        }
        plan.steps.emplace_back();
        for (const RunTransfer& t : fill) {
            if (t.width > 0) {
                plan.steps.back().push_back(t);
            }
        }
        plan_ = std::move(plan);
    }

    Rank size_;
    int steps_;
    Offsets ring_;
    std::vector<Rank> candidates_ = candidates();
    Rank unevenness_ = 1;  ///< of the farthest whole step; the others allow 1
    std::vector<Distances> chosen_;
    std::vector<Offsets> window_;  ///< before each step chosen so far, and now
    std::int64_t trials_ = 0;
    std::optional<TrivancePattern> plan_;
};

}  // namespace

std::optional<TrivancePattern> spread_pattern(Rank size, Rank bound) {
    if (size < 4 || size > largest_size) {
        return std::nullopt;
    }
    return SpreadSearch(size).run(bound);
}

}  // namespace trefoil
