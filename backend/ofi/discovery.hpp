// SPDX-License-Identifier: BSD-3-Clause
// What libfabric offers on this machine, and the choice of provider and NIC among it.
#pragma once

#include <string>
#include <vector>

#include "backend/ofi/handle.hpp"
#include "backend/ports/transport.hpp"

namespace trefoil::ofi {

/// What a put with notification needs and `info` does not offer, in words; empty when it qualifies.
std::string lacking(const fi_info& info);

/// The names of one offer: provider, device (or interface) and printable source address.
ProviderInfo names(const fi_info& info);

/// All qualifying offers of this machine, best default first.
std::vector<Info> offers();

/// The best provider among `all`, or the one that was asked for: its own name ("tcp;ofi_rxm"), or
/// that of its lowest layer ("tcp") when no provider is called just so. "net" is also the "tcp" of
/// releases that have renamed it. Throws Error(not_found) that names the others, Error(unsupported)
/// that says what the provider lacks.
std::string choose_provider(const std::vector<Info>& all, const std::string& wanted);

/// The offer of `provider` for `nic`: the name of a device or interface, or an address; empty:
/// loopback if `one_host`, else the first address that other hosts may reach, or loopback if there
/// is no other. Throws Error(not_found) that names those that exist.
Info choose_nic(const std::vector<Info>& all, const std::string& provider, const std::string& nic,
                bool one_host);

}  // namespace trefoil::ofi
