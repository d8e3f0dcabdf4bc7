// SPDX-License-Identifier: BSD-3-Clause
// What UCX finds on this machine, and the configuration of a context that is to use it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/ports/transport.hpp"
#include "backend/ucx/handle.hpp"

namespace trefoil::ucx {

/// Every transport with each of its devices, whatever UCX_TLS and UCX_NET_DEVICES say.
std::vector<ProviderInfo> resources();

/// UCX's name of the device that goes by `nic`: its own name, that name without the port
/// ("mlx5_0"), or the address of its interface. Throws Error(not_found) that names those that
/// exist.
std::string choose_device(const std::vector<ProviderInfo>& all, const std::string& nic);

/// True when the context has a transport that maps peers' memory, as posix does.
bool maps_memory(ucp_context_h context);

/// In the place of a device: none, only what stays within the host.
inline constexpr const char* no_device = "none";

/// The user's UCX_* settings, or UCX's defaults, but for the rendezvous threshold, where ours is
/// better; `transports` and `device` override the user's unless empty.
Config read_config(const std::string& transports, const std::string& device);

/// Whether a threshold is left to UCX: "auto", or "intra:auto,inter:auto" from UCX 1.18 on.
bool is_automatic(std::string_view threshold);

/// From how many bytes on a context under `config` sends by rendezvous, as in UCX_RNDV_THRESH.
std::string threshold_of(const ucp_config_t& config);

/// The transports that a context may use under `config`, as in UCX_TLS.
std::string transports_of(const ucp_config_t& config);

/// The network devices that a context may use under `config`, as in UCX_NET_DEVICES: "all".
std::string devices_of(const ucp_config_t& config);

/// The NICs of those transports, or of those that UCX_TLS names. Thread-safe.
NicOffers nics(const std::string& transports);

/// "tcp, posix, sysv": each transport once.
std::string transport_names(const std::vector<ProviderInfo>& all);

}  // namespace trefoil::ucx
