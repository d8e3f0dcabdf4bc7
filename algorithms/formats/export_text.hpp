// SPDX-License-Identifier: BSD-3-Clause
// The schedules of all ranks and a text that is written of them, both bounded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// Of all ranks. Throws Error(unsupported), before most of them are built, when about so many bytes
/// for each message would be more than largest_export; and for ranks that read their peers' memory.
std::vector<Schedule> schedules_to_export(const Torus& torus, const Algorithm& algorithm,
                                          const BuildOptions& options, std::string_view form,
                                          std::size_t bytes_per_message);

/// Throws Error(unsupported) when the text has grown larger than largest_export.
void require_small(const std::string& text, std::string_view form);

}  // namespace trefoil
