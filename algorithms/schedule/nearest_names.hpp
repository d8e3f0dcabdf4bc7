// SPDX-License-Identifier: BSD-3-Clause
// What a misspelt name may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil {

/// Up to three of `candidates` nearest to `name` by edit distance, best first; none that differs in
/// more than half of its letters.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates);

}  // namespace trefoil
