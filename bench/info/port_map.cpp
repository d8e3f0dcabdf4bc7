// SPDX-License-Identifier: BSD-3-Clause
// Opens the ports of one rank to see who would drive them and where they are attached.
#include "bench/info/port_map.hpp"

#include <algorithm>

#include "backend/registry/transports.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/nics.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

PortMap::PortMap(const Torus& torus, const Settings& given)
    : nics_(torus.ports()), openmp_(given.port_threads_by == PortThreadsBy::openmp) {
    Settings settings = given;
    settle_port_threads(torus, settings);
    const std::vector<std::vector<int>> masks(torus.ranks(), allowed_cores());
    groups_ = group_ports(torus, settings, masks, 0);
    BackendConfig config;
    config.provider = settings.provider;
    config.groups = groups_.groups;
    const std::string backend(transport_for(settings.backend, true).name);
    NicSharing sharing;
    sharing.ranks = masks;
    sharing.most = torus.ranks();
    sharing.all_here = true;
    const NicRequest request = parse_nic_request(settings.nics, torus.ports());
    try {
        nics_ = choose_nics_here({backend, settings.provider, request, used_ports(torus)}, sharing);
        config.nics = selectors(nics_);
        opened_ = open_backend(backend, config);
    } catch (const Error& error) {
        refusal_ = error.what();
    }
    LocalRank rank{masks[0], {}, settings.pin, settings.pin_cores};
    for (int i = 0; i < groups_.threads; ++i) {
        rank.near.push_back(cores_near(groups_.groups[i], nics_));
    }
    placement_ = place_threads(std::vector<LocalRank>(torus.ranks(), rank), 0);
}

std::string PortMap::owner(Port port) const {
    for (std::size_t i = 0; groups_.threads > 0 && i < groups_.groups.size(); ++i) {
        const std::vector<Port>& ports = groups_.groups[i];
        if (std::find(ports.begin(), ports.end(), port) != ports.end()) {
            return (openmp_ ? "OpenMP thread " : "port thread ") + std::to_string(i) +
                   (placement_.cores.empty() ? ""
                                             : " on core " + std::to_string(placement_.cores[i]));
        }
    }
    return "the calling thread";
}

std::string PortMap::provider() const {
    return opened_.empty() ? std::string() : opened_[0]->provider();
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

std::string PortMap::choice(Port port) const {
    return nic_text(nics_[port.index]);
}

}  // namespace trefoil::tool
