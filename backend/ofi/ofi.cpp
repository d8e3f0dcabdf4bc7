// SPDX-License-Identifier: BSD-3-Clause
// Opens the port groups of backend "ofi" and lists what could be opened.
#include "backend/ofi/ofi.hpp"

#include <algorithm>

#include "backend/ofi/discovery.hpp"
#include "backend/ofi/environment.hpp"
#include "backend/ofi/group.hpp"
#include "backend/ofi/library.hpp"

namespace trefoil {

namespace {

std::string nic_of(const BackendConfig& config, Port port) {
    const auto index = static_cast<std::size_t>(port.index);
    return index < config.nics.size() ? config.nics[index] : std::string();
}

// The address tells: regions in /dev/shm are what such endpoints are reached through.
bool lives_in_shared_memory(const std::vector<ofi::Info>& all, const std::string& provider) {
    return std::any_of(all.begin(), all.end(), [&provider](const ofi::Info& info) {
        const ProviderInfo mine = ofi::names(*info);
        return mine.provider == provider && mine.address.starts_with("fi_shm://");
    });
}

std::vector<std::unique_ptr<PortGroup>> open_ofi(const BackendConfig& config) {
    const std::vector<ofi::Info> all = ofi::offers();
    const std::string provider = ofi::choose_provider(all, config.provider);
    if (lives_in_shared_memory(all, provider)) {
        ofi::remove_stale_regions();
    }
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (const std::vector<Port>& ports : config.groups) {
        std::vector<ofi::PortOffer> chosen;
        for (const Port port : ports) {
            chosen.push_back(
                {port, ofi::choose_nic(all, provider, nic_of(config, port), config.one_host)});
        }
        groups.push_back(std::make_unique<ofi::OfiGroup>(std::move(chosen)));
    }
    return groups;
}

NicOffers ofi_nics(const std::string& provider) {
    const std::vector<ofi::Info> all = ofi::offers();
    const std::string chosen = ofi::choose_provider(all, provider);
    NicOffers offers;
    offers.source = "libfabric provider " + chosen;
    offers.uses_shared_memory = lives_in_shared_memory(all, chosen);
    for (const ofi::Info& info : all) {
        ProviderInfo mine = ofi::names(*info);
        if (mine.provider == chosen && !offers.uses_shared_memory) {
            offers.one_per_group = offers.one_per_group || info->nic != nullptr;
            offers.nics.push_back(std::move(mine));
        }
    }
    return offers;
}

std::vector<ProviderInfo> ofi_providers() {
    std::vector<ProviderInfo> list;
    for (const ofi::Info& info : ofi::offers()) {
        list.push_back(ofi::names(*info));
    }
    return list;
}

LibraryInfo ofi_library() {
    try {
        return {"libfabric", ofi::version_text(ofi::library().version()), ""};
    } catch (const Error& error) {
        return {"libfabric", "", error.what()};
    }
}

}  // namespace

Transport ofi_transport() {
    Transport transport;
    transport.name = "ofi";
    transport.summary = "libfabric: any provider with remote writes and completion data";
    transport.variables = "FI_";
    transport.direct_from = std::size_t{1} << 20;
    transport.expect_peers = ofi::expect_peers;
    transport.open = open_ofi;
    transport.providers = ofi_providers;
    transport.nics = ofi_nics;
    transport.clean_up_after = [](int process) { ofi::remove_regions_of(process); };
    transport.library = ofi_library;
    return transport;
}

}  // namespace trefoil
