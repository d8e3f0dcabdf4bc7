// SPDX-License-Identifier: BSD-3-Clause
// Opens the ports of one rank to see who would drive them and where they are attached.
#include "bench/port_map.hpp"

#include <algorithm>

#include "comm/environment.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

PortMap::PortMap(const Torus& torus) {
    const Settings settings = settings_from_environment();
    const std::vector<int> cores = allowed_cores();
    const int share = static_cast<int>(cores.size()) / torus.ranks();
    const int threads = settings.port_threads >= 0 ? settings.port_threads
                        : share >= 2               ? std::min(torus.ports(), share)
                                                   : 0;
    std::vector<Port> ports;
    for (int index = 0; index < torus.ports(); ++index) {
        if (torus.size(index / 2) > 1) {
            ports.push_back(Port{index});
        }
    }
    threads_ = threads > 0;
    groups_.resize(std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, ports.size())));
    for (std::size_t i = 0; i < ports.size(); ++i) {
        groups_[i % groups_.size()].push_back(ports[i]);
    }
    for (std::size_t i = 0; settings.pin && threads_ && i < groups_.size(); ++i) {
        cores_.push_back(cores[i % cores.size()]);
    }
    BackendConfig config;
    config.provider = settings.provider;
    config.groups = groups_;
    config.nics = parse_nics(settings.nics, torus.ports());
    try {
        opened_ = open_backend(settings.backend.empty() ? "memory" : settings.backend, config);
    } catch (const Error& error) {
        refusal_ = error.what();
    }
}

std::string PortMap::owner(Port port) const {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        if (std::find(groups_[i].begin(), groups_[i].end(), port) != groups_[i].end() && threads_) {
            return "port thread " + std::to_string(i) +
                   (cores_.empty() ? "" : " on core " + std::to_string(cores_[i]));
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
