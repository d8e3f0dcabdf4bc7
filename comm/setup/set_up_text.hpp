// SPDX-License-Identifier: BSD-3-Clause
// What a communicator has become, in words for the log.
#pragma once

#include <string>

#include "comm/setup/environment.hpp"
#include "comm/setup/local_ports.hpp"
#include "comm/setup/torus_map.hpp"

namespace trefoil {

/// "torus 3x3 (TREFOIL_TORUS), this rank at 1,2".
std::string place_text(const TorusMap& map, Rank rank);

/// "; NICs: +0 eth1, -0 eth2"; empty where ports have none.
std::string nics_text(const Torus& torus, const LocalPorts& ports);

/// "2 port threads (dedicated), on cores 0,2; who waits spins briefly".
std::string threads_text(const Settings& settings, const LocalPorts& ports);

}  // namespace trefoil
