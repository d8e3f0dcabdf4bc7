// SPDX-License-Identifier: BSD-3-Clause
// The network interfaces and devices of this host, as data: what they are and where they sit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topo/locality.hpp"

namespace trefoil {

struct Nic {
    std::string name;                    ///< "eth0", "mlx5_0"
    std::vector<std::string> addresses;  ///< printable; none for devices that are no interfaces
    bool loopback = false;
    bool up = true;
    // As ask_links() finds them.
    bool carrier = true;        ///< false: nothing answers at the other end of the cable
    std::int64_t megabits = 0;  ///< a second; 0: the kernel does not say
    std::string virtual_kind;   ///< as virtual_kind() tells it; empty: leads to other hosts
    std::string pci;            ///< "0000:3b:00.0", or empty
    std::vector<std::string> interfaces{};  ///< of a device with RDMA: those that lead through it
    int numa_node = -1;                     ///< -1: unknown, or near several
    std::vector<int> cores;                 ///< near it; empty: unknown
};

/// Interfaces, also those that are down, and then devices of `locality` that are no interfaces.
/// Each name once. Throws Error(system_error) when the kernel does not list them.
std::vector<Nic> host_nics(const Locality& locality);

/// Sets `carrier` and `megabits`, which may wait for a driver: for those who need them.
void ask_links(std::vector<Nic>& nics);

/// "up", "down", "up, loopback", "up, bridge": for people.
std::string state_text(const Nic& nic);

}  // namespace trefoil
