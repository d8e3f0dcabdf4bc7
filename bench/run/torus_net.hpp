// SPDX-License-Identifier: BSD-3-Clause
// The networks that scripts/torusnet has made, as far as `trefoil run --net` needs them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trefoil::tool {

struct TorusNet {
    std::string torus;                         ///< "3x3"
    std::string nics;                          ///< TREFOIL_NICS of every rank
    std::vector<std::string> namespaces;       ///< one per rank
    double bits_per_second = 0;                ///< of each link and direction; 0: not limited
    double delay_us = 0;                       ///< of each link
    std::vector<std::string> meeting_address;  ///< of each rank; not limited, for the store
};

/// Where scripts/torusnet writes down what is up.
inline constexpr const char* torus_net_folder = "/run/trefoil-torusnet";

/// Throws Error(not_found), which names the networks that there are, or Error(system_error).
TorusNet read_torus_net(const std::string& name,
                        const std::filesystem::path& folder = torus_net_folder);

}  // namespace trefoil::tool
