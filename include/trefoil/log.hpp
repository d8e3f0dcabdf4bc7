// SPDX-License-Identifier: BSD-3-Clause
// Words for Trefoil's log, for libraries on top of it.
#pragma once

#include <trefoil/trefoil.h>
#include <trefoil/errors.hpp>

#include <string>

namespace trefoil {

/// As trefoil_log: what is not wanted is left out. Thread-safe. Throws CallFailed.
inline void log(trefoil_log_level_t level, const std::string& topic, const std::string& text) {
    check(trefoil_log(level, topic.c_str(), text.c_str()));
}

}  // namespace trefoil
