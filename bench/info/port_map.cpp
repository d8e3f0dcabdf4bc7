// SPDX-License-Identifier: BSD-3-Clause
// Opens the ports of one rank to see who would drive them and where they are attached.
#include "bench/info/port_map.hpp"

#include <algorithm>
#include <utility>

#include "backend/registry/transports.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/nics.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

PortMap::PortMap(const Torus& torus, const Settings& given)
    : nics_(torus.ports()), openmp_(given.port_threads_by == PortThreadsBy::openmp) {
    Settings settings = given;
    settings.backend = transport_for(settings.backend, true).name;
    settle_port_threads(torus, settings);
    const std::vector<std::vector<int>> masks(torus.ranks(), allowed_cores());
    const std::vector<CpuQuota> quotas = cpu_quotas();
    groups_ = group_ports(torus, settings, masks, 0,
                          cores_for_each(std::vector(masks.size(), quotas), 0));
    BackendConfig config, inside;
    config.provider = settings.provider;
    config.groups = groups_.groups;
    if (groups_.has_inside) {
        inside.groups = {config.groups.back()};
        config.groups.pop_back();
    }
    const Torus nodes = torus.nodes();
    NicSharing sharing;
    sharing.ranks.assign(static_cast<std::size_t>(nodes.ranks()), masks[0]);
    sharing.most = nodes.ranks();
    sharing.all_here = true;
    NicWish wish{
        settings.backend,  settings.provider, parse_nic_request(settings.nics, nodes.ports()),
        used_ports(nodes), config.groups,     torus.ranks()};
    if (settings.links != LinksBy::given || !torus.is_whole()) {
        wish.may_lack = wish.ports;
    }
    try {
        nics_ = choose_nics_here(wish, sharing);
        nics_.resize(torus.ports());
        config.nics = selectors(nics_);
        opened_ = open_backend(settings.backend, config);
        if (groups_.has_inside) {
            opened_.push_back(std::move(open_backend(default_transport(true).name, inside)[0]));
        }
    } catch (const Error& error) {
        refusal_ = error.what();
    }
    LocalRank rank{masks[0], {}, settings.pin, settings.pin_cores, quotas};
    for (int i = 0; i < groups_.threads; ++i) {
        rank.near.push_back(cores_near(groups_.groups[i], nics_));
    }
    placement_ = place_threads(std::vector<LocalRank>(torus.ranks(), rank), 0);
}

std::string PortMap::owner(Port port) const {
    for (std::size_t g = 0; groups_.threads > 0 && g < groups_.groups.size(); ++g) {
        const std::vector<Port>& ports = groups_.groups[g];
        if (std::find(ports.begin(), ports.end(), port) != ports.end()) {
            const std::size_t i = g % static_cast<std::size_t>(groups_.threads);
            return (openmp_ ? "OpenMP thread " : "port thread ") + std::to_string(i) +
                   (placement_.cores.empty() ? ""
                                             : " on core " + std::to_string(placement_.cores[i]));
        }
    }
    return "the calling thread";
}

std::string PortMap::provider() const {
    return opened_.empty() ? std::string() : opened_[0]->traits().provider;
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
