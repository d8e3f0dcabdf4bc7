// SPDX-License-Identifier: BSD-3-Clause
// Backend "memory": ranks as threads of one process, or as processes of one host. A put is a copy
// by the sender; the target need not do anything.
#pragma once

#include <memory>
#include <vector>

#include "backend/ports/port_group.hpp"

namespace trefoil {

/// Opens one group per entry of config.groups. Whether a peer is a thread or a process is found out
/// per peer. Throws Error(not_found) when a provider or a NIC is asked for: there are none.
std::vector<std::unique_ptr<PortGroup>> open_memory(const BackendConfig& config);

/// The one way in which this backend reaches others.
std::vector<ProviderInfo> memory_providers();
/// None.
NicOffers memory_nics(const std::string& provider);

}  // namespace trefoil
