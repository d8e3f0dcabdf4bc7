// SPDX-License-Identifier: BSD-3-Clause
// Backend "ofi": ports as libfabric endpoints (RMA writes that carry remote completion data).
#pragma once

#include <memory>
#include <vector>

#include "backend/ports/port_group.hpp"

namespace trefoil {

/// Opens one group (a domain, a completion queue, an endpoint per port) per entry of
/// config.groups. Any reliable-datagram provider will do that offers FI_RMA and at least 4 bytes of
/// remote completion data. Errors as open_backend(). Thread-safe.
std::vector<std::unique_ptr<PortGroup>> open_ofi(const BackendConfig& config);

/// Every provider and NIC that open_ofi() could use here, best default first. Thread-safe.
std::vector<ProviderInfo> ofi_providers();
/// The NICs of that provider, or of the best one; as open_ofi() would use it. Thread-safe.
NicOffers ofi_nics(const std::string& provider);

}  // namespace trefoil
