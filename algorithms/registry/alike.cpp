// SPDX-License-Identifier: BSD-3-Clause
// Each list names one translation per dimension that has any.
#include "algorithms/registry/alike.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "algorithms/bandwidth/hamiltonian_cycles.hpp"
#include "algorithms/schedule/long_dimensions.hpp"

namespace trefoil::table {

namespace {

bool is_power_of_two(Rank size) {
    return (size & (size - 1)) == 0;
}

bool only_powers_of_two(const Torus& torus) {
    return std::ranges::all_of(torus.sizes(), is_power_of_two);
}

/// The translations by period(size) in each dimension; 0: none.
template <typename Period>
std::vector<Rank> by_dimension(const Torus& torus, Period&& period) {
    std::vector<Rank> result;
    for (const int j : long_dimensions(torus)) {
        const Rank by = period(torus.size(j));
        if (by > 0 && by < torus.size(j)) {
            result.push_back(torus.with_coordinate(0, j, by));
        }
    }
    return result;
}

}  // namespace

std::vector<Rank> everywhere(const Torus& torus) {
    return by_dimension(torus, [](Rank) { return 1; });
}

std::vector<Rank> along_the_line(const Torus& torus) {
    const std::vector<Rank> all = everywhere(torus);
    return all.empty() ? all : std::vector<Rank>{all.front()};
}

std::vector<Rank> by_parity(const Torus& torus) {
    return by_dimension(torus, [](Rank size) { return size % 2 == 0 ? 2 : 0; });
}

std::vector<Rank> by_parity_where_even(const Torus& torus) {
    return by_dimension(torus, [](Rank size) { return size % 2 == 0 ? 2 : 1; });
}

std::vector<Rank> along_the_line_by_parity(const Torus& torus) {
    const auto dimensions = long_dimensions(torus);
    const Rank size = dimensions.empty() ? 1 : torus.size(dimensions.front());
    const Rank by = size % 2 == 0 ? 2 : 1;
    if (by >= size) {
        return {};
    }
    return {torus.with_coordinate(0, dimensions.front(), by)};
}

std::vector<Rank> by_parity_of_powers(const Torus& torus) {
    return by_dimension(torus, [](Rank size) { return is_power_of_two(size) ? 2 : 0; });
}

std::vector<Rank> by_halves_of_powers(const Torus& torus) {
    return by_dimension(torus, [](Rank size) { return is_power_of_two(size) ? size / 2 : 0; });
}

std::vector<Rank> along_the_cycles(const Torus& torus) {
    const auto dimensions = long_dimensions(torus);
    const Rank row = std::min(torus.size(dimensions[0]), torus.size(dimensions[1]));
    return {HamiltonianCycles(torus).at(0, row)};
}

int one_per_port(const Torus& torus) {
    const int ports = 2 * static_cast<int>(long_dimensions(torus).size());
    return ports == 0 ? 0 : (torus.ranks() - 1 + ports - 1) / ports;
}

int one_per_port_twice(const Torus& torus) {
    return 2 * one_per_port(torus);
}

int offsets_at_once(const Torus& torus) {
    return torus.ranks() / 32;
}

int once_round(const Torus& torus) {
    const auto dimensions = static_cast<int>(long_dimensions(torus).size());
    return dimensions * (std::ranges::max(torus.sizes()) - 1);
}

int twice_round(const Torus& torus) {
    return 2 * once_round(torus);
}

int one_per_doubling(const Torus& torus) {
    return std::bit_width(static_cast<std::uint32_t>(torus.ranks() - 1));
}

int one_per_rank(const Torus& torus) {
    return torus.ranks() - 1;
}

int one_per_rank_twice(const Torus& torus) {
    return 2 * one_per_rank(torus);
}

Witnesses axes_of_powers(const Torus& torus) {
    return only_powers_of_two(torus) ? Witnesses::axes : Witnesses::alike;
}

Witnesses flows_of_rings(const Torus&) {
    return Witnesses::flows;
}

// Along lines messages go the only way, through others' links.
Witnesses only_root(const Torus& torus) {
    return !torus.is_whole() ? Witnesses::alike : Witnesses::root_of_links;
}

Witnesses formula_of_rings(const Torus& torus) {
    return !torus.is_whole() ? Witnesses::alike : Witnesses::formula;
}

}  // namespace trefoil::table
