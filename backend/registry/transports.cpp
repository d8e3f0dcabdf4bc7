// SPDX-License-Identifier: BSD-3-Clause
// The registry: those of this build, and those that a program has added.
#include "backend/registry/transports.hpp"

#include <algorithm>
#include <utility>

#include "backend/registry/built_in.hpp"
#include "backend/system/kept_handlers.hpp"
#include "topo/descriptor.hpp"
#include "topo/error.hpp"
#include "topo/no_signals.hpp"

namespace trefoil {

namespace {

/// A deque, since others keep references to its elements.
std::deque<Transport>& registered() {
    static auto& all = *new std::deque<Transport>(built_in_transports());
    return all;
}

std::string transport_names() {
    std::string text;
    for (const Transport& transport : transports()) {
        text += (text.empty() ? "" : ", ") + std::string(transport.name);
    }
    return text;
}

}  // namespace

const std::deque<Transport>& transports() {
    return registered();
}

const Transport* registered_transport(std::string_view name) {
    const auto& all = transports();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [name](const Transport& each) { return each.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const Transport& find_transport(std::string_view name) {
    const Transport* const found = registered_transport(name);
    if (found == nullptr) {
        throw Error(Status::not_found, "there is no backend \"" + std::string(name) +
                                           "\"; choose one of: " + transport_names());
    }
    if (!found->built()) {
        throw Error(Status::not_found, "backend \"" + std::string(name) +
                                           "\" is not in this build: " + found->absence);
    }
    return *found;
}

const Transport& default_transport(bool one_host) {
    const auto& all = transports();
    const auto found = std::find_if(all.begin(), all.end(), [one_host](const Transport& each) {
        const bool lacking = each.machine_lacks != nullptr && !each.machine_lacks().empty();
        return (one_host || !each.one_host_only) && !lacking;
    });
    if (found == all.end()) {
        throw Error(Status::not_found, "no backend reaches other hosts");
    }
    return *found;
}

const Transport& transport_for(std::string_view name, bool one_host) {
    return find_transport(name.empty() ? default_transport(one_host).name : name);
}

void register_transport(Transport transport) {
    if (registered_transport(transport.name) != nullptr) {
        throw Error(Status::invalid_argument,
                    "there is a backend \"" + std::string(transport.name) + "\" already");
    }
    registered().push_back(std::move(transport));
}

std::vector<std::unique_ptr<PortGroup>> open_backend(std::string_view name,
                                                     const BackendConfig& config) {
    const Transport& transport = find_transport(name);
    if (transport.library != nullptr) {
        hold_standard_descriptors();
    }
    const KeptHandlers handlers;
    const NoSignals blocked;  // a library may start threads
    return transport.open(config);
}

}  // namespace trefoil
