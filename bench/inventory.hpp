// SPDX-License-Identifier: BSD-3-Clause
// What `trefoil info` knows, as data.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trefoil::tool {

/// Keys: trefoil, build, machine, backends, providers, interfaces, algorithms, environment,
/// warnings; with a torus ("3x3") also torus and ports. Throws Error(invalid_argument) on bad text.
nlohmann::ordered_json inventory(const std::string& torus);

}  // namespace trefoil::tool
