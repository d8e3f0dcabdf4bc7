// SPDX-License-Identifier: BSD-3-Clause
// The texts of the log about a communicator's torus, NICs and threads.
#include "comm/setup/set_up_text.hpp"

#include "topo/log/log.hpp"

namespace trefoil {

namespace {

/// In the order of the threads.
std::string cores_text(const std::vector<int>& cores) {
    std::string text;
    for (const int core : cores) {
        text += (text.empty() ? ", on cores " : ",") + std::to_string(core);
    }
    return text.empty() ? ", not pinned" : text;
}

std::string who_drives(const Settings& settings, const LocalPorts& ports) {
    const int threads = ports.groups().threads;
    if (threads == 0) {
        return "the calling thread drives all ports";
    }
    return std::to_string(threads) + (threads == 1 ? " port thread" : " port threads") +
           (settings.port_threads_by == PortThreadsBy::openmp
                ? " of the OpenMP runtime"
                : cores_text(ports.placement().cores));
}

}  // namespace

std::string place_text(const TorusMap& map, Rank rank) {
    std::string text = "torus " + map.torus.name() + " (" + map.source + "), this rank at ";
    for (int j = 0; j < map.torus.dimensions(); ++j) {
        text += (j > 0 ? "," : "") + std::to_string(map.torus.coordinate(
                                         map.position_of[static_cast<std::size_t>(rank)], j));
    }
    return text;
}

std::string nics_text(const Torus& torus, const LocalPorts& ports) {
    std::string text;
    for (const Port port : used_ports(torus)) {
        const std::string nic = ports.nic(port);
        if (!nic.empty()) {
            text += (text.empty() ? "; NICs: " : ", ") + to_string(port) + " " + nic;
        }
    }
    if (ports.groups().has_inside) {
        text += "; memory between the " + std::to_string(torus.per_node()) + " ranks of a node";
    }
    return text;
}

std::string threads_text(const Settings& settings, const LocalPorts& ports) {
    const Placement& placement = ports.placement();
    return who_drives(settings, ports) +
           (placement.may_spin ? "; who waits spins briefly"
                               : "; who waits yields and sleeps, as cores are shared") +
           (placement.oversubscription.empty() ? "" : ": ") + placement.oversubscription;
}

}  // namespace trefoil
