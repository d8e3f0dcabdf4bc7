// SPDX-License-Identifier: BSD-3-Clause
// The system's random numbers.
#pragma once

#include <span>

namespace trefoil {

/// Fills `bytes` from the system's generator for secrets. Throws Error(system_error).
void fill_randomly(std::span<char> bytes);

}  // namespace trefoil
