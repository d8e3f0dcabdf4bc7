// SPDX-License-Identifier: BSD-3-Clause
// The first few findings are kept: a broken schedule breaks everywhere.
#include "algorithms/analysis/findings.hpp"

#include <utility>

namespace trefoil {

void Findings::add(std::string error) {
    if (!enough()) {
        errors_.push_back(std::move(error));
    }
}

void Findings::add(std::size_t part, std::size_t step, Rank rank, const std::string& text) {
    if (!enough()) {
        errors_.push_back("part " + std::to_string(part) + ", step " + std::to_string(step) +
                          ", rank " + std::to_string(rank) + ": " + text);
    }
}

}  // namespace trefoil
