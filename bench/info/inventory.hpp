// SPDX-License-Identifier: BSD-3-Clause
// What `trefoil info` knows, as data.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/info/choices.hpp"

namespace trefoil::tool {

/// Keys: trefoil, build, machine, libraries, launcher, backends, providers, interfaces, algorithms,
/// environment, libraries_environment, warnings; when the torus is known also torus, torus_source,
/// ranks, ranks_per_node, transport, threads, ports, node and automatic. Throws
/// Error(invalid_argument) on a request that makes no sense; what is wrong with the environment is
/// among the warnings.
nlohmann::ordered_json inventory(const InfoRequest& request);

}  // namespace trefoil::tool
