// SPDX-License-Identifier: BSD-3-Clause
// Two edge-disjoint Hamiltonian cycles of a two-dimensional torus.
#include "algorithms/bandwidth/hamiltonian_cycles.hpp"

#include <numeric>

#include "algorithms/schedule/long_dimensions.hpp"

namespace trefoil {

namespace {

bool has_cycles(Rank rows, Rank columns) {
    return rows % columns == 0 && std::gcd(rows, columns - 1) == 1;
}

}  // namespace

std::string HamiltonianCycles::refusal(const Torus& torus) {
    const std::vector<int> dimensions = long_dimensions(torus);
    if (dimensions.size() != 2) {
        return "it needs exactly two dimensions longer than 1";
    }
    const Rank a = torus.size(dimensions[0]);
    const Rank b = torus.size(dimensions[1]);
    if (has_cycles(a, b) || has_cycles(b, a)) {
        return {};
    }
    return "one size must be a multiple of the other, c, and have no divisor in common with c - 1";
}

HamiltonianCycles::HamiltonianCycles(const Torus& torus) : torus_(torus) {
    const std::vector<int> dimensions = long_dimensions(torus);
    const bool transposed = !has_cycles(torus.size(dimensions[0]), torus.size(dimensions[1]));
    down_ = dimensions[transposed ? 1 : 0];
    across_ = dimensions[transposed ? 0 : 1];
    rows_ = torus.size(down_);
    columns_ = torus.size(across_);
}

Rank HamiltonianCycles::at(int cycle, Rank t) const {
    const std::int64_t x1 = t / columns_;
    const std::int64_t x0 = t % columns_;
    const bool first = cycle == 0;
    const std::int64_t row = first ? x1 : (x1 * (columns_ - 1) + x0) % rows_;
    const std::int64_t column = first ? (x0 + rows_ - x1) % columns_ : x1 % columns_;
    const Rank rank = torus_.with_coordinate(0, down_, static_cast<Rank>(row));
    return torus_.with_coordinate(rank, across_, static_cast<Rank>(column));
}

Rank HamiltonianCycles::time(int cycle, Rank rank) const {
    const Rank row = torus_.coordinate(rank, down_);
    const Rank column = torus_.coordinate(rank, across_);
    if (cycle == 0) {
        return row * columns_ + (column + row) % columns_;
    }
    // Of the times at which the cycle comes to this column, the one that covers the row.
    Rank x1 = column;
    std::int64_t x0 = 0;
    do {
        const std::int64_t start = std::int64_t{x1} * (columns_ - 1) % rows_;
        x0 = (row - start + rows_) % rows_;
        x1 += columns_;
    } while (x0 >= columns_ && x1 < rows_);
    return static_cast<Rank>((x1 - columns_) * columns_ + x0);
}

}  // namespace trefoil
