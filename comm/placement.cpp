// SPDX-License-Identifier: BSD-3-Clause
// The placement rule.
#include "comm/placement.hpp"

#include <algorithm>

namespace trefoil {

Placement place_ports(const Torus& torus, const Settings& settings, const std::vector<int>& cores,
                      Rank local_ranks, Rank local_rank) {
    std::vector<Port> ports;
    for (int p = 0; p < torus.ports(); ++p) {
        if (torus.size(Port{p}.dimension()) > 1) {
            ports.push_back(Port{p});
        }
    }
    const int share = static_cast<int>(cores.size()) / local_ranks;
    const int wanted = settings.port_threads >= 0 ? settings.port_threads : share >= 2 ? share : 0;
    Placement placement;
    placement.threads = std::min(wanted, static_cast<int>(ports.size()));
    placement.groups.resize(std::max(1, placement.threads));
    for (std::size_t i = 0; i < ports.size(); ++i) {
        placement.groups[i % placement.groups.size()].push_back(ports[i]);
    }
    for (int i = 0; settings.pin && i < placement.threads; ++i) {
        placement.cores.push_back(cores[(local_rank * placement.threads + i) % cores.size()]);
    }
    placement.may_spin =
        local_ranks * std::max(1, placement.threads) <= static_cast<int>(cores.size());
    return placement;
}

}  // namespace trefoil
