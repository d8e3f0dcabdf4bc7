// SPDX-License-Identifier: BSD-3-Clause
// Ranks, links and the like as indices of lists.
#pragma once

#include <cstddef>

namespace trefoil {

inline std::size_t to_index(int number) {
    return static_cast<std::size_t>(number);
}

}  // namespace trefoil
