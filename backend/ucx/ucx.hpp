// SPDX-License-Identifier: BSD-3-Clause
// Backend "ucx": ports over UCX workers; stores into shared memory where UCX can map a peer's
// memory, active messages that carry the payload everywhere else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/ports/port_group.hpp"

namespace trefoil {

/// Opens one group per entry of config.groups; config.provider is a list of UCX transports (as in
/// UCX_TLS, which it overrides). Errors as open_backend(). Thread-safe.
std::vector<std::unique_ptr<PortGroup>> open_ucx(const BackendConfig& config);

/// Every transport and device that UCX finds here. Thread-safe.
std::vector<ProviderInfo> ucx_providers();
/// The NICs of those transports, or of those that UCX_TLS names. Thread-safe.
NicOffers ucx_nics(const std::string& transports);
/// Of the library that is loaded: "1.13.1".
std::string ucx_version();

}  // namespace trefoil
