// SPDX-License-Identifier: BSD-3-Clause
// The links that the relay stands in: which interface leads where, and to which node.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <map>
#include <span>
#include <string>

#include "bench/relay/wire.hpp"

namespace trefoil::relay {

/// The first three bytes of a node's IPv4 addresses.
using NodeAddress = std::array<std::uint8_t, 3>;

/// What becomes of a frame that comes in at one interface.
struct Way {
    int interface = 0;  ///< where it leaves
    NodeAddress node;   ///< who is there
    Wire wire;
};

/// By the index of the interface where frames come in.
using Ways = std::map<int, Way>;

/// Reads a link per line: interface, node, interface, node, such as "r0p0 10.77.0 r1m0 10.77.1".
/// Throws Error that names the line.
Ways read_links(std::istream& input, double bits_per_second, Time delay);

/// Whether an Ethernet frame is for that node: then all of it must be there. A frame that says
/// nothing of a node goes no further either.
bool ends_at(std::span<const std::byte> frame, const NodeAddress& node);

}  // namespace trefoil::relay
