// SPDX-License-Identifier: BSD-3-Clause
// The devices with RDMA that the kernel lists, and the interfaces that lead through them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trefoil {

struct RdmaDevice {
    std::string name;                     ///< "mlx5_0"
    std::vector<std::string> interfaces;  ///< of its ports and their GIDs: "eth0", "eth0.7"
    bool up = false;                      ///< some port is active
};

/// In the order of their names. `classes` is the kernel's directory of such devices; none where it
/// is not there.
std::vector<RdmaDevice> rdma_devices(
    const std::filesystem::path& classes = "/sys/class/infiniband");

}  // namespace trefoil
