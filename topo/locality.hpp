// SPDX-License-Identifier: BSD-3-Clause
// The NUMA nodes, and where network devices are attached, as hwloc tells it.
#pragma once

#include <string>
#include <vector>

namespace trefoil {

/// One network device of the operating system.
struct DeviceLocality {
    std::string name;        ///< "eth0", "mlx5_0"
    std::string pci;         ///< "0000:3b:00.0"; empty: not a PCI device
    int numa_node = -1;      ///< -1: near several, or unknown
    std::vector<int> cores;  ///< operating-system numbers, ascending
};

/// Cores and the memory that is near them.
struct NumaNode {
    int number = 0;
    std::vector<int> cores;  ///< operating-system numbers, ascending
};

struct Locality {
    std::string absence;  ///< why nothing is known; empty when hwloc has told
    std::vector<DeviceLocality> devices;
    std::vector<NumaNode> numa_nodes = {};
};

/// Of this machine, as far as this network namespace shows it: a device that hwloc does not list
/// (loopback, veth) has no place. Takes some 10 ms. Never throws an Error: what fails is the
/// absence.
Locality machine_locality();

/// "2.9.0": the library that tells; empty when there is none.
std::string locality_library();

/// Of the machine that hwloc (`lstopo FILE.xml`) has written to `path`.
Locality locality_of_xml(const std::string& path);

}  // namespace trefoil
