// SPDX-License-Identifier: BSD-3-Clause
// Names by edit distance.
#include "algorithms/schedule/nearest_names.hpp"

#include <algorithm>
#include <utility>

namespace trefoil {

namespace {

/// Insertions, deletions and substitutions that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates) {
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const std::string& c : candidates) {
        const std::size_t distance = edit_distance(name, c);
        if (2 * distance <= std::max(name.size(), c.size())) {
            ranked.emplace_back(distance, c);
        }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    ranked.resize(std::min<std::size_t>(ranked.size(), 3));
    std::vector<std::string> result;
    for (auto& [distance, candidate] : ranked) {
        result.push_back(std::move(candidate));
    }
    return result;
}

}  // namespace trefoil
