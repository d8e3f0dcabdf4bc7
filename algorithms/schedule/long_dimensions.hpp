// SPDX-License-Identifier: BSD-3-Clause
// The dimensions in which a torus has something to send.
#pragma once

#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// The dimensions of size > 1, ascending.
inline std::vector<int> long_dimensions(const Torus& torus) {
    std::vector<int> result;
    for (int j = 0; j < torus.dimensions(); ++j) {
        if (torus.size(j) > 1) {
            result.push_back(j);
        }
    }
    return result;
}

}  // namespace trefoil
