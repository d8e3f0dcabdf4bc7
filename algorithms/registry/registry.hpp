// SPDX-License-Identifier: BSD-3-Clause
// The one list of algorithms, which selection, --help, tests and docs read, and look-up by name.
#pragma once

#include <span>
#include <string_view>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// All algorithms, in the order in which they are listed to users.
std::span<const Algorithm> algorithms();

/// Throws Error(not_found) that offers the nearest names, or Error(unsupported) with the refusal's
/// reason when `torus` is given and not supported.
const Algorithm& find_algorithm(Collective collective, std::string_view name,
                                const Torus* torus = nullptr);

}  // namespace trefoil
