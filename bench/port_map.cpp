// SPDX-License-Identifier: BSD-3-Clause
// Opens the ports of one rank to see who would drive them and where they are attached.
#include "bench/port_map.hpp"

#include <algorithm>

#include "comm/environment.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

PortMap::PortMap(const Torus& torus) {
    const Settings settings = settings_from_environment();
    placement_ = place_ports(torus, settings, allowed_cores(), torus.ranks(), 0);
    BackendConfig config;
    config.provider = settings.provider;
    config.groups = placement_.groups;
    config.nics = parse_nics(settings.nics, torus.ports());
    try {
        opened_ = open_backend(settings.backend.empty() ? "memory" : settings.backend, config);
    } catch (const Error& error) {
        refusal_ = error.what();
    }
}

std::string PortMap::owner(Port port) const {
    for (std::size_t i = 0; placement_.threads > 0 && i < placement_.groups.size(); ++i) {
        const std::vector<Port>& ports = placement_.groups[i];
        if (std::find(ports.begin(), ports.end(), port) != ports.end()) {
            return "port thread " + std::to_string(i) +
                   (placement_.cores.empty() ? ""
                                             : " on core " + std::to_string(placement_.cores[i]));
        }
    }
    return "the calling thread";
}

std::string PortMap::attachment(Port port) const {
    for (const auto& group : opened_) {
        const std::vector<Port>& ports = group->ports();
        if (std::find(ports.begin(), ports.end(), port) != ports.end()) {
            return group->port_text(port);
        }
    }
    return "none: " + refusal_;
}

}  // namespace trefoil::tool
