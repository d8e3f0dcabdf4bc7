// SPDX-License-Identifier: BSD-3-Clause
// Opens the port groups of backend "ucx" and lists what they could use.
#include "backend/ucx/ucx.hpp"

#include "backend/ucx/discovery.hpp"
#include "backend/ucx/group.hpp"
#include "backend/ucx/leftovers.hpp"
#include "backend/ucx/library.hpp"

namespace trefoil {

namespace {

std::vector<std::unique_ptr<PortGroup>> open_ucx(const BackendConfig& config) {
    std::vector<ProviderInfo> all;
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (const std::vector<Port>& ports : config.groups) {
        std::vector<ucx::PortDevice> chosen;
        for (const Port port : ports) {
            const auto index = static_cast<std::size_t>(port.index);
            const bool named = index < config.nics.size() && !config.nics[index].empty();
            if (named && all.empty()) {
                all = ucx::resources();
            }
            chosen.push_back({port, named ? ucx::choose_device(all, config.nics[index]) : ""});
        }
        groups.push_back(std::make_unique<ucx::UcxGroup>(config.provider, chosen));
    }
    return groups;
}

LibraryInfo ucx_library() {
    try {
        return {"UCX", ucx::version_text(), ""};
    } catch (const Error& error) {
        return {"UCX", "", error.what()};
    }
}

}  // namespace

Transport ucx_transport() {
    Transport transport;
    transport.name = "ucx";
    transport.summary = "UCX: stores into shared memory, active messages elsewhere";
    transport.variables = "UCX_";
    transport.open = open_ucx;
    transport.providers = ucx::resources;
    transport.nics = ucx::nics;
    transport.library = ucx_library;
    transport.clean_up_after = [](int) { ucx::remove_unused_segments(); };
    return transport;
}

}  // namespace trefoil
