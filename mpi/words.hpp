// SPDX-License-Identifier: BSD-3-Clause
// What the layer says to people, through Trefoil's log.
#pragma once

#include <string>

#include "trefoil/trefoil.h"

namespace trefoil::mpi {

inline void say(trefoil_log_level_t level, const std::string& text) {
    trefoil_log(level, "mpi", text.c_str());
}

}  // namespace trefoil::mpi
