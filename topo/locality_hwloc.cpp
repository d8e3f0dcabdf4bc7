// SPDX-License-Identifier: BSD-3-Clause
// Locality by hwloc: walks the network devices of a topology up to what they are attached to.
#include <hwloc.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <system_error>

#include "topo/locality.hpp"

namespace trefoil {

namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

std::vector<int> numbers(hwloc_const_bitmap_t set) {
    std::vector<int> list;
    // Ends: the sets of a loaded topology are finite.
    for (int n = hwloc_bitmap_first(set); n >= 0; n = hwloc_bitmap_next(set, n)) {
        list.push_back(n);
    }
    return list;
}

std::string pci_of(hwloc_obj_t device) {
    for (hwloc_obj_t o = device; o != nullptr; o = o->parent) {
        if (o->type == HWLOC_OBJ_PCI_DEVICE) {
            const auto& pci = o->attr->pcidev;
            std::array<char, 32> text{};
            std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x",
                          static_cast<unsigned>(pci.domain), static_cast<unsigned>(pci.bus),
                          static_cast<unsigned>(pci.dev), static_cast<unsigned>(pci.func));
            return text.data();
        }
    }
    return {};
}

bool is_network(hwloc_obj_t device) {
    const auto type = device->attr->osdev.type;
    return type == HWLOC_OBJ_OSDEV_NETWORK || type == HWLOC_OBJ_OSDEV_OPENFABRICS;
}

Locality absent(const std::string& what) {
    return {"hwloc " + what + ": " + std::error_code(errno, std::generic_category()).message(), {}};
}

/// `path` empty: this machine.
Locality load(const std::string& path) {
    // libudev, which hwloc asks, is not made for several threads; ranks that are threads come here
    // at once.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    hwloc_topology_t opened = nullptr;
    if (hwloc_topology_init(&opened) != 0) {
        return absent("cannot start");
    }
    const Topology topology(opened, hwloc_topology_destroy);
    if (!path.empty() && hwloc_topology_set_xml(opened, path.c_str()) != 0) {
        return absent("cannot read " + path);
    }
    // Plug-ins that look for accelerators take long and tell nothing about NICs. Without
    // libpciaccess, which loses memory each time its plug-in is unloaded, the kernel's own files
    // tell of PCI devices.
    for (const char* component : {"pci", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"}) {
        hwloc_topology_set_components(opened, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
    }
    hwloc_topology_set_io_types_filter(opened, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(opened) != 0) {
        return absent(path.empty() ? "cannot look at this machine" : "cannot load " + path);
    }
    Locality found;
    for (hwloc_obj_t o = hwloc_get_next_osdev(opened, nullptr); o != nullptr;
         o = hwloc_get_next_osdev(opened, o)) {
        if (o->name == nullptr || !is_network(o)) {
            continue;
        }
        const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(opened, o);
        DeviceLocality device{o->name, pci_of(o), -1, {}};
        if (place != nullptr && place->cpuset != nullptr) {
            device.cores = numbers(place->cpuset);
        }
        if (place != nullptr && place->nodeset != nullptr &&
            hwloc_bitmap_weight(place->nodeset) == 1) {
            device.numa_node = hwloc_bitmap_first(place->nodeset);
        }
        found.devices.push_back(std::move(device));
    }
    for (hwloc_obj_t o = hwloc_get_next_obj_by_type(opened, HWLOC_OBJ_NUMANODE, nullptr);
         o != nullptr; o = hwloc_get_next_obj_by_type(opened, HWLOC_OBJ_NUMANODE, o)) {
        found.numa_nodes.push_back({static_cast<int>(o->os_index), numbers(o->cpuset)});
    }
    return found;
}

}  // namespace

Locality machine_locality() {
    return load({});
}

std::string locality_library() {
    // 0x00020900; of its release the library does not tell.
    const unsigned version = hwloc_get_api_version();
    return "API " + std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 0xff) +
           "." + std::to_string(version & 0xff);
}

Locality locality_of_xml(const std::string& path) {
    return load(path);
}

}  // namespace trefoil
