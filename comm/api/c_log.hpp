// SPDX-License-Identifier: BSD-3-Clause
// The caller's function for what the library says.
#pragma once

#include "topo/log/log.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::c_api {

inline LogFunction log_function(trefoil_log_fn function, void* context) {
    return [function, context](LogLevel level, const char* topic, const char* text) {
        function(static_cast<trefoil_log_level_t>(level), topic, text, context);
    };
}

}  // namespace trefoil::c_api
