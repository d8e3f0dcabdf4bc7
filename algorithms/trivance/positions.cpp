// SPDX-License-Identifier: BSD-3-Clause
// The choice of the factor by which blocks are spread.
#include "algorithms/trivance/positions.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace trefoil {

namespace {

using OffsetList = std::vector<Rank>;

/// What the steps after the digits send and hold, in units of the digits' cells.
struct Patterns {
    Rank size = 1;
    std::vector<OffsetList> sent;  ///< one entry per step and side
    std::vector<OffsetList> held;  ///< by step: before it; one more at the end
};

Patterns patterns(const TrivanceTree& tree) {
    Rank unit = 1;
    for (int i = 0; i < tree.digits; ++i) {
        unit *= 3;
    }
    const int steps = static_cast<int>(tree.distances.size());
    Patterns result;
    result.size = tree.size / unit;
    for (int k = tree.digits; k <= steps; ++k) {
        OffsetList held;
        OffsetList sides[2];
        for (Rank o = 0; o < tree.size; o += unit) {
            if (tree.levels[o] >= k) {
                held.push_back(o / unit);
            }
            if (tree.levels[o] == k && o != 0) {
                sides[tree.signs[o] > 0].push_back(o / unit);
            }
        }
        result.held.push_back(std::move(held));
        if (k < steps) {
            result.sent.push_back(std::move(sides[0]));
            result.sent.push_back(std::move(sides[1]));
        }
    }
    return result;
}

/// Runs of neighbours around the ring.
std::int64_t runs(const OffsetList& offsets, Rank factor, std::vector<char>& marks) {
    const auto size = static_cast<Rank>(marks.size());
    const auto at = [&](Rank o) { return static_cast<std::int64_t>(o) * factor % size; };
    for (const Rank o : offsets) {
        marks[at(o)] = 1;
    }
    std::int64_t count = 0;
    for (const Rank o : offsets) {
        count += marks[(at(o) + 1) % size] == 0 ? 1 : 0;
    }
    for (const Rank o : offsets) {
        marks[at(o)] = 0;
    }
    return std::max<std::int64_t>(count, offsets.empty() ? 0 : 1);
}

/// The most extents in a message, then their sum. On a torus the blocks of one dimension are cut
/// apart by those of the dimension that moved before.
std::pair<std::int64_t, std::int64_t> extents(const Patterns& p, Rank factor, int dimensions) {
    std::vector<char> marks(p.size, 0);
    std::int64_t most = 0;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < p.sent.size(); ++i) {
        std::int64_t count = runs(p.sent[i], factor, marks);
        if (dimensions > 1) {
            const auto others = static_cast<std::int64_t>(p.held[i / 2 + 1].size());
            const auto outer = static_cast<std::int64_t>(p.sent[i].size());
            count = std::max(others * count, outer * runs(p.held[i / 2], factor, marks));
        }
        most = std::max(most, count);
        sum += count;
    }
    return {most, sum};
}

constexpr Rank every_factor_up_to = 256;  // beyond, only those that the tree's distances suggest

std::vector<Rank> candidate_factors(const TrivanceTree& tree, Rank size) {
    std::vector<Rank> factors{1};
    for (Rank f = 2; f < size && size <= every_factor_up_to; ++f) {
        if (std::gcd(f, size) == 1) {
            factors.push_back(f);
        }
    }
    for (const Rank d : tree.distances) {
        for (Rank f = 2; f < size && size > every_factor_up_to; ++f) {
            if (static_cast<std::int64_t>(f) * d % size == 1) {
                factors.push_back(f);
            }
        }
    }
    return factors;
}

}  // namespace

TrivancePositions::TrivancePositions(const TrivanceTree& tree, int dimensions)
    : size_(tree.size), digits_(tree.digits) {
    const Patterns p = patterns(tree);
    auto best = extents(p, 1, dimensions);
    for (const Rank factor : candidate_factors(tree, p.size)) {
        const auto found = extents(p, factor, dimensions);
        if (found < best) {
            best = found;
            factor_ = factor;
        }
    }
}

}  // namespace trefoil
