// SPDX-License-Identifier: BSD-3-Clause
// The shapes on which every algorithm is proved.
#pragma once

#include <string>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

inline std::vector<std::string> rings(Rank from, Rank to) {
    std::vector<std::string> shapes;
    for (Rank n = from; n <= to; ++n) {
        shapes.push_back(std::to_string(n));
    }
    return shapes;
}

inline std::vector<std::string> small_tori() {
    return {"1x1", "1x3", "3x1", "2x2", "2x3", "3x3",   "2x4",   "3x4",
            "4x4", "3x5", "5x5", "2x6", "8x2", "2x2x2", "3x3x3", "2x3x4"};
}

inline std::vector<std::string> large_tori() {
    return {"3x9", "4x8", "6x6", "8x8", "9x9", "4x4x4", "2x1x5x2", "12x7"};
}

inline std::vector<std::string> large_rings() {
    std::vector<std::string> shapes = rings(33, 64);
    for (const char* n : {"81", "100", "127", "128", "243", "256"}) {
        shapes.emplace_back(n);
    }
    return shapes;
}

}  // namespace trefoil
