// SPDX-License-Identifier: BSD-3-Clause
// Which of UCX's devices are NICs that a port can be bound to, under the user's UCX_* settings.
#include <net/if.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "backend/ucx/discovery.hpp"

namespace trefoil::ucx {

namespace {

/// A name in UCX_TLS that stands for several transports: those whose names so begin.
struct Alias {
    std::string_view name;
    std::string_view prefix;
};
constexpr std::array<Alias, 20> aliases{
    {{"mm", "posix"},     {"mm", "sysv"},       {"mm", "xpmem"},     {"sm", "posix"},
     {"sm", "sysv"},      {"sm", "xpmem"},      {"shm", "posix"},    {"shm", "sysv"},
     {"shm", "xpmem"},    {"ib", "rc_"},        {"ib", "ud_"},       {"ib", "dc_"},
     {"rc", "rc_"},       {"ud", "ud_"},        {"dc", "dc_"},       {"rc_v", "rc_verbs"},
     {"rc_x", "rc_mlx5"}, {"ud_v", "ud_verbs"}, {"ud_x", "ud_mlx5"}, {"ugni", "ugni_"}}};

bool stands_for(std::string_view word, std::string_view transport) {
    return word == "all" || word == transport ||
           std::any_of(aliases.begin(), aliases.end(), [&](const Alias& alias) {
               return alias.name == word && transport.starts_with(alias.prefix);
           });
}

/// Does `list`, as in UCX_TLS, name the transport?
bool allows(std::string_view list, std::string_view transport) {
    const bool negated = list.starts_with('^');
    list.remove_prefix(negated ? 1 : 0);
    bool named = false;
    for (bool more = true; more;) {
        std::string_view word = list.substr(0, list.find(','));
        more = word.size() < list.size();
        list.remove_prefix(word.size() + (more ? 1 : 0));
        word.remove_prefix(word.starts_with('\\') ? 1 : 0);
        named = named || stands_for(word, transport);
    }
    return named != negated;
}

/// UCX names network devices "mlx5_0:1" (with their port) or as the interface.
bool is_nic(const std::string& device) {
    return device.find(':') != std::string::npos || if_nametoindex(device.c_str()) != 0;
}

}  // namespace

NicOffers nics(const std::string& transports) {
    const Config config = read_config(transports, "");
    const std::string list = transports_of(*config);
    NicOffers offers;
    offers.source = "UCX with the transports " + list;
    if (devices_of(*config) != "all") {
        offers.settled_by = "UCX_NET_DEVICES";
    }
    for (ProviderInfo& resource : resources()) {
        if (is_nic(resource.nic)) {
            if (allows(list, resource.provider)) {
                offers.nics.push_back(std::move(resource));
            }
        } else if (resource.provider == "posix" || resource.provider == "sysv" ||
                   resource.provider == "xpmem") {
            offers.uses_shared_memory =
                offers.uses_shared_memory || allows(list, resource.provider);
        }
    }
    return offers;
}

}  // namespace trefoil::ucx
