// SPDX-License-Identifier: BSD-3-Clause
// Joins the kernel's interfaces with hwloc's devices.
#include "topo/nic.hpp"

#include <net/if.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>

#include "topo/host.hpp"
#include "topo/rdma_device.hpp"
#include "topo/virtual_interface.hpp"

namespace trefoil {

namespace {

Nic& find_or_add(std::vector<Nic>& nics, const std::string& name) {
    const auto same =
        std::find_if(nics.begin(), nics.end(), [&](const Nic& nic) { return nic.name == name; });
    if (same != nics.end()) {
        return *same;
    }
    nics.emplace_back();
    nics.back().name = name;
    return nics.back();
}

/// Of an interface without an address, which getifaddrs does not show.
bool is_up(const std::string& interface) {
    std::ifstream file("/sys/class/net/" + interface + "/flags");
    unsigned flags = 0;
    return file >> std::hex >> flags && (flags & IFF_UP) != 0;
}

/// A number in a file of the kernel's; nothing where it has none, as of an interface that is down.
std::optional<std::int64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<Nic> host_nics(const Locality& locality) {
    std::vector<Nic> nics;
    for (const NetworkInterface& interface : network_interfaces()) {
        Nic& nic = find_or_add(nics, interface.name);
        nic.addresses.push_back(interface.address);
        nic.loopback = interface.loopback;
        nic.up = interface.up;
        nic.numa_node = interface.numa_node;
    }
    const std::unique_ptr<struct if_nameindex, decltype(&if_freenameindex)> all(if_nameindex(),
                                                                                if_freenameindex);
    for (const struct if_nameindex* each = all.get(); each != nullptr && each->if_name != nullptr;
         ++each) {
        Nic& nic = find_or_add(nics, each->if_name);
        if (nic.addresses.empty()) {
            nic.up = is_up(nic.name);
        }
    }
    for (Nic& nic : nics) {
        nic.virtual_kind = nic.loopback ? "" : virtual_kind(nic.name);
    }
    for (const DeviceLocality& device : locality.devices) {
        Nic& nic = find_or_add(nics, device.name);
        nic.pci = device.pci;
        nic.cores = device.cores;
        nic.numa_node = device.numa_node;
    }
    for (RdmaDevice& device : rdma_devices()) {
        Nic& nic = find_or_add(nics, device.name);
        nic.interfaces = std::move(device.interfaces);
        nic.up = device.up;
    }
    return nics;
}

void ask_links(std::vector<Nic>& nics) {
    for (Nic& nic : nics) {
        const std::string folder = "/sys/class/net/" + nic.name + "/";
        nic.carrier = number_in(folder + "carrier").value_or(1) != 0;
        nic.megabits = std::max<std::int64_t>(0, number_in(folder + "speed").value_or(0));
    }
}

std::string state_text(const Nic& nic) {
    return std::string(nic.up ? "up" : "down") + (nic.loopback ? ", loopback" : "") +
           (nic.virtual_kind.empty() ? "" : ", " + nic.virtual_kind);
}

}  // namespace trefoil
