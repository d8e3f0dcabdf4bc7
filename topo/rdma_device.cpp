// SPDX-License-Identifier: BSD-3-Clause
// Reads /sys/class/infiniband.
#include "topo/rdma_device.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace trefoil {

namespace {

namespace fs = std::filesystem;

/// Sorted; empty where the directory cannot be read.
std::vector<fs::path> entries_of(const fs::path& directory) {
    std::vector<fs::path> all;
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
        all.push_back(at->path());
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// Reading fails for GIDs that are not in use.
std::string first_line(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace

std::vector<RdmaDevice> rdma_devices(const fs::path& classes) {
    std::vector<RdmaDevice> devices;
    for (const fs::path& directory : entries_of(classes)) {
        RdmaDevice device{directory.filename().string(), {}, false};
        for (const fs::path& port : entries_of(directory / "ports")) {
            device.up = device.up || first_line(port / "state").find("ACTIVE") != std::string::npos;
            for (const fs::path& gid : entries_of(port / "gid_attrs" / "ndevs")) {
                const std::string interface = first_line(gid);
                if (!interface.empty() &&
                    std::find(device.interfaces.begin(), device.interfaces.end(), interface) ==
                        device.interfaces.end()) {
                    device.interfaces.push_back(interface);
                }
            }
        }
        devices.push_back(std::move(device));
    }
    return devices;
}

}  // namespace trefoil
