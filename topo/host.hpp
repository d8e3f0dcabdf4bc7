// SPDX-License-Identifier: BSD-3-Clause
// What this process may use of the machine: cores in its mask, network interfaces, host name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trefoil {

/// Operating-system numbers of the cores in this process's affinity mask, ascending; never empty.
/// Where the kernel does not say what is in it: as many as are online.
std::vector<int> allowed_cores();

struct NetworkInterface {
    std::string name;     ///< "eth0"
    std::string address;  ///< printable IPv4 or IPv6 address
    bool loopback = false;
    bool up = false;
    int numa_node = -1;  ///< -1: unknown, or no locality (virtual interfaces)
};
/// One entry per (interface, address).
std::vector<NetworkInterface> network_interfaces();

/// The interface that an address with this label has: labels ("eth0:1") name none of their own.
std::string interface_of_label(std::string_view label);

std::string host_name();
/// One line: "2 cores, 24 GiB, AMD EPYC".
std::string machine_text();

}  // namespace trefoil
