// SPDX-License-Identifier: BSD-3-Clause
// Lists of cores as users write them: "0,2,4-7".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil {

/// In the order written; nothing for a text that is not such a list, that has an empty entry, a
/// descending range, a core twice, or a number of 65536 or more.
std::optional<std::vector<int>> parse_core_list(std::string_view text);

/// "0,2,4-7"; `cores` ascending.
std::string core_list_text(const std::vector<int>& cores);

}  // namespace trefoil
