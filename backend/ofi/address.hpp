// SPDX-License-Identifier: BSD-3-Clause
// Addresses as libfabric gives them, in words, and which of several is the best to be reached at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace trefoil::ofi {

/// The address without its port number: "192.0.2.7", "::1", or the provider's own text; empty for
/// binary addresses, which only the provider can read.
std::string address_text(std::uint32_t format, const void* address, std::size_t bytes);

/// The network interface that carries an IP address; empty when there is none, or for other
/// formats.
std::string interface_of(std::uint32_t format, const void* address, std::size_t bytes);

/// How likely others reach this address; larger is better. Loopback is last, or first when all are
/// on `one_host`; before it the bridges and virtual pairs of containers and VPNs; IPv4 goes before
/// IPv6, link-local is worse. Addresses that are not IP are all alike.
int reach_of(std::uint32_t format, const void* address, std::size_t bytes, bool one_host);

}  // namespace trefoil::ofi
