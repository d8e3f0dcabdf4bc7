// SPDX-License-Identifier: BSD-3-Clause
// Opens the port groups of backend "memory", and tells the registry what it can do.
#include "backend/memory/memory.hpp"

#include "backend/memory/group.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

std::vector<std::unique_ptr<PortGroup>> open_memory(const BackendConfig& config) {
    if (!config.provider.empty()) {
        throw Error(Status::not_found, "backend memory has no provider \"" + config.provider +
                                           "\": it has none to choose from; leave the provider "
                                           "empty, or choose backend ofi");
    }
    for (const std::string& nic : config.nics) {
        if (!nic.empty()) {
            throw Error(Status::not_found, "backend memory has no NIC \"" + nic +
                                               "\": it uses none; leave the NICs empty, or choose "
                                               "backend ofi");
        }
    }
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (const std::vector<Port>& ports : config.groups) {
        groups.push_back(std::make_unique<memory::MemoryGroup>(ports));
    }
    return groups;
}

Sample sample() {
    auto region = memory::Region::make(memory::Use::payload, 1);
    std::string description = region->description();
    return {std::move(region), std::move(description)};
}

void try_sample(std::string_view description) {
    memory::Region::open(memory::Use::payload, description);
}

std::vector<ProviderInfo> providers() {
    return {{"", "shared memory", ""}};
}

NicOffers nics(const std::string&) {
    NicOffers none;
    none.source = "backend memory, which uses none";
    none.uses_shared_memory = true;
    return none;
}

}  // namespace

Transport memory_transport() {
    Transport transport;
    transport.name = "memory";
    transport.summary = "threads of one process, or processes of one host, over shared memory";
    transport.one_host_only = true;
    transport.puts_by_stores = true;
    transport.single_copy = true;
    transport.open = open_memory;
    transport.sample = sample;
    transport.try_sample = try_sample;
    transport.providers = providers;
    transport.nics = nics;
    return transport;
}

}  // namespace trefoil
