// SPDX-License-Identifier: BSD-3-Clause
// Asks libfabric what there is, keeps what can put and notify, and orders it.
#include "backend/ofi/discovery.hpp"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <tuple>

#include "backend/ofi/address.hpp"
#include "backend/ofi/environment.hpp"
#include "backend/system/kept_handlers.hpp"
#include "topo/host.hpp"

namespace trefoil::ofi {

namespace {

constexpr std::size_t notification_bytes = sizeof(std::uint32_t);
// Registration modes that OfiGroup obeys; a provider that needs another one is not listed.
constexpr int supported_mr_modes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
constexpr std::uint64_t supported_modes = FI_CONTEXT | FI_CONTEXT2;

Info hints_for_put() {
    Info hints = copy_of(nullptr);
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = supported_modes;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = supported_mr_modes;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    return hints;
}

Info query(const fi_info* hints) {
    prepare_environment();
    fi_info* list = nullptr;
    const KeptHandlers handlers;  // providers are loaded here
    const int result = library().getinfo(api_version, nullptr, nullptr, 0, hints, &list);
    if (result != 0 && result != -FI_ENODATA) {
        check(result, "list its providers");
    }
    return Info(list);
}

std::vector<Info> split(Info list) {
    std::vector<Info> all;
    while (list) {
        fi_info* rest = list->next;
        list->next = nullptr;
        all.push_back(std::move(list));
        list.reset(rest);
    }
    return all;
}

std::string_view provider_of(const fi_info& info) {
    return info.fabric_attr->prov_name;
}

// Layered providers list an interface once per offer of the layer below, in many variants; the
// first is libfabric's best.
void remove_repetitions(std::vector<Info>& all) {
    std::set<std::tuple<std::string, std::string, std::string>> seen;
    std::erase_if(all, [&seen](const Info& info) {
        const ProviderInfo mine = names(*info);
        return !seen.emplace(mine.provider, mine.nic, mine.address).second;
    });
}

std::string_view lowest_layer(std::string_view provider) {
    return provider.substr(0, provider.find(';'));
}

// Only the default order looks at names: hardware first, as libfabric lists it; then what reaches
// other hosts through the kernel; shm, which does not, after those; the rest is for those who ask.
int preference(const fi_info& info) {
    static constexpr std::array<std::string_view, 4> order = {"net", "tcp", "tcp;ofi_rxm", "shm"};
    static constexpr std::array<std::string_view, 6> software = {"net", "tcp",     "udp",
                                                                 "shm", "sockets", "sm2"};
    const std::string_view provider = provider_of(info);
    const auto place = std::find(order.begin(), order.end(), provider);
    if (place != order.end()) {
        return 1 + static_cast<int>(place - order.begin());
    }
    const bool is_software =
        std::find(software.begin(), software.end(), lowest_layer(provider)) != software.end();
    return is_software ? 1 + static_cast<int>(order.size()) : 0;
}

bool is_offered(const std::vector<Info>& all, std::string_view provider) {
    return std::any_of(all.begin(), all.end(),
                       [provider](const Info& info) { return provider_of(*info) == provider; });
}

std::string list_providers(const std::vector<Info>& all) {
    std::string text;
    for (const Info& info : all) {
        const std::string provider = "\"" + std::string(provider_of(*info)) + "\"";
        if (text.find(provider) == std::string::npos) {
            text += (text.empty() ? "" : ", ") + provider;
        }
    }
    return text.empty() ? "none" : text;
}

// The provider is not among the qualifying offers: say whether it exists at all.
[[noreturn]] void refuse_provider(const std::vector<Info>& all, const std::string& wanted) {
    const std::string usable = "usable here: " + list_providers(all) + " (`trefoil info`)";
    for (const Info& info : split(query(nullptr))) {
        const std::string_view provider = provider_of(*info);
        if (provider == wanted || lowest_layer(provider) == wanted) {
            const std::string why = lacking(*info);
            throw Error(Status::unsupported,
                        "libfabric provider \"" + wanted + "\" cannot put with notification: " +
                            (why.empty() ? "it needs a registration or threading mode that Trefoil "
                                           "does not offer"
                                         : why) +
                            "; " + usable);
        }
    }
    throw Error(Status::not_found,
                "libfabric has no provider \"" + wanted + "\" here" +
                    (wanted == "shm" ? ", or too little room in /dev/shm; " : "; ") + usable);
}

bool is_called(const fi_info& info, const std::string& nic) {
    const ProviderInfo mine = names(info);
    return mine.nic == nic || mine.address == nic ||
           interface_of(info.addr_format, info.src_addr, info.src_addrlen) == nic;
}

[[noreturn]] void refuse_nic(const std::vector<Info>& all, const std::string& provider,
                             const std::string& nic) {
    std::string text;
    for (const Info& info : all) {
        const ProviderInfo mine = names(*info);
        if (mine.provider == provider) {
            text += (text.empty() ? "" : ", ") + mine.nic + " (" + mine.address + ")";
        }
    }
    throw Error(Status::not_found, "libfabric provider \"" + provider + "\" has no NIC \"" + nic +
                                       "\"; it has " + text + "; correct TREFOIL_NICS");
}

std::string pci_of(const fi_info& info) {
    if (info.nic == nullptr || info.nic->bus_attr == nullptr ||
        info.nic->bus_attr->bus_type != FI_BUS_PCI) {
        return {};
    }
    const fi_pci_attr& pci = info.nic->bus_attr->attr.pci;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", pci.domain_id, pci.bus_id,
                  pci.device_id, pci.function_id);
    return text.data();
}

}  // namespace

std::string lacking(const fi_info& info) {
    if (info.ep_attr->type != FI_EP_RDM) {
        return "it has no reliable datagram endpoints (FI_EP_RDM)";
    }
    if ((info.caps & FI_RMA) == 0) {
        return "it has no remote memory access (FI_RMA)";
    }
    if (info.domain_attr->cq_data_size < notification_bytes) {
        return "it carries " + std::to_string(info.domain_attr->cq_data_size) +
               " bytes of remote completion data and " + std::to_string(notification_bytes) +
               " are needed";
    }
    return {};
}

ProviderInfo names(const fi_info& info) {
    const std::string address = address_text(info.addr_format, info.src_addr, info.src_addrlen);
    const std::string name = info.domain_attr->name != nullptr ? info.domain_attr->name : "";
    const bool socket = info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
                        info.addr_format == FI_SOCKADDR_IN6;  // called by the label of its address
    return {std::string(provider_of(info)), socket ? interface_of_label(name) : name, address,
            pci_of(info)};
}

std::vector<Info> offers() {
    const Info hints = hints_for_put();
    std::vector<Info> all = split(query(hints.get()));
    std::erase_if(all, [](const Info& info) { return !lacking(*info).empty(); });
    remove_repetitions(all);
    std::stable_sort(all.begin(), all.end(),
                     [](const Info& a, const Info& b) { return preference(*a) < preference(*b); });
    return all;
}

std::string choose_provider(const std::vector<Info>& all, const std::string& wanted) {
    if (wanted.empty() && !all.empty()) {
        return std::string(provider_of(*all.front()));
    }
    if (is_offered(all, wanted)) {
        return wanted;
    }
    // What libfabric 1.17 calls "net" is "tcp" in later releases.
    if (wanted == "net" && is_offered(all, "tcp")) {
        return "tcp";
    }
    for (const Info& info : all) {
        if (lowest_layer(provider_of(*info)) == wanted) {
            return std::string(provider_of(*info));
        }
    }
    if (wanted.empty()) {
        throw Error(Status::not_found,
                    "libfabric offers no provider here that can put with notification; is "
                    "FI_PROVIDER set to one that cannot? `fi_info` lists them");
    }
    refuse_provider(all, wanted);
}

Info choose_nic(const std::vector<Info>& all, const std::string& provider, const std::string& nic,
                bool one_host) {
    const fi_info* best = nullptr;
    int best_reach = 0;
    for (const Info& info : all) {
        if (provider_of(*info) != provider || (!nic.empty() && !is_called(*info, nic))) {
            continue;
        }
        const int reach = reach_of(info->addr_format, info->src_addr, info->src_addrlen, one_host);
        if (best == nullptr || reach > best_reach) {
            best = info.get();
            best_reach = reach;
        }
    }
    if (best == nullptr) {
        refuse_nic(all, provider, nic);
    }
    return copy_of(best);
}

}  // namespace trefoil::ofi
