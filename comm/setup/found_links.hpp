// SPDX-License-Identifier: BSD-3-Clause
// A job's network as its ranks find it: what their NICs say of the links, or what messages took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/setup/nic_choice.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// What a rank says of the links behind its ports, by port.
struct PortLink {
    bool works = true;
    std::int64_t megabits = 0;  ///< a second; 0: unknown
};
std::vector<PortLink> links_of(const NicChoice& choice);
std::string encode(const std::vector<PortLink>& links);
std::vector<PortLink> decode_links(const std::string& bytes);

/// `fabric`, whose cables are down where either end has no link, and slower by as much as the
/// slower end is slower than the fastest port of all. `told`: by rank of the fabric, then by port.
/// Ends that do not know their speed have the fastest one.
Fabric with_port_links(Fabric fabric, const std::vector<std::vector<PortLink>>& told);

/// `fabric`, whose links are as slow as what a message took through them beside the median of all;
/// up to a quarter more is the noise of a measurement. `nanoseconds`: by rank of the fabric, then
/// by the port through which it left; 0: not measured.
Fabric with_times(Fabric fabric, const std::vector<std::vector<std::uint64_t>>& nanoseconds);

}  // namespace trefoil
