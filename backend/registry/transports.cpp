// SPDX-License-Identifier: BSD-3-Clause
// The table of backends, and the way from a name to open ports.
#include <cstddef>

#include "backend/memory/memory.hpp"
#include "backend/ports/port_group.hpp"
#ifdef TREFOIL_HAVE_OFI
#include "backend/ofi/ofi.hpp"
#endif
#ifdef TREFOIL_HAVE_UCX
#include "backend/ucx/ucx.hpp"
#endif

namespace trefoil {

namespace {

struct Entry {
    BackendInfo info;
    std::vector<std::unique_ptr<PortGroup>> (*open)(const BackendConfig& config);
    std::vector<ProviderInfo> (*providers)();
    NicOffers (*nics)(const std::string& provider);
};

const std::vector<Entry>& table() {
    static const std::vector<Entry> entries{
        {{"memory", "threads of one process, or processes of one host, over shared memory", true,
          ""},
         open_memory,
         memory_providers,
         memory_nics},
#ifdef TREFOIL_HAVE_OFI
        {{"ofi", "libfabric: any provider with remote writes and completion data", true, ""},
         open_ofi,
         ofi_providers,
         ofi_nics},
#else
        {{"ofi", "libfabric: any provider with remote writes and completion data", false,
          TREFOIL_OFI_REASON},
         nullptr,
         nullptr,
         nullptr},
#endif
#ifdef TREFOIL_HAVE_UCX
        {{"ucx", "UCX: stores into shared memory, active messages elsewhere", true, ""},
         open_ucx,
         ucx_providers,
         ucx_nics},
#else
        {{"ucx", "UCX: stores into shared memory, active messages elsewhere", false,
          TREFOIL_UCX_REASON},
         nullptr,
         nullptr,
         nullptr},
#endif
    };
    return entries;
}

const Entry& find(std::string_view name) {
    std::string names;
    for (const Entry& entry : table()) {
        if (entry.info.name != name) {
            names += (names.empty() ? "" : ", ") + std::string(entry.info.name);
            continue;
        }
        if (!entry.info.built) {
            throw Error(Status::not_found, "backend \"" + std::string(name) +
                                               "\" is not in this build: " + entry.info.reason);
        }
        return entry;
    }
    throw Error(Status::not_found,
                "there is no backend \"" + std::string(name) + "\"; choose one of: " + names);
}

}  // namespace

std::vector<BackendInfo> backends() {
    std::vector<BackendInfo> infos;
    for (const Entry& entry : table()) {
        infos.push_back(entry.info);
    }
    return infos;
}

std::vector<ProviderInfo> providers(std::string_view backend) {
    return find(backend).providers();
}

NicOffers nic_offers(std::string_view backend, const std::string& provider) {
    return find(backend).nics(provider);
}

std::vector<std::unique_ptr<PortGroup>> open_backend(std::string_view name,
                                                     const BackendConfig& config) {
    return find(name).open(config);
}

}  // namespace trefoil
