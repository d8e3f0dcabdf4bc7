// SPDX-License-Identifier: BSD-3-Clause
// Joins the backend's NICs with the host's and has the ports' NICs chosen.
#include "comm/setup/nics.hpp"

#include <algorithm>
#include <cctype>

#include "backend/registry/transports.hpp"

namespace trefoil {

namespace {

/// Numbers inside names by their value.
bool natural_less(const std::string& a, const std::string& b) {
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (digit(a[i]) && digit(b[j])) {
            const auto end = [&](const std::string& s, std::size_t k) {
                while (k < s.size() && digit(s[k])) {
                    ++k;
                }
                return k;
            };
            const std::size_t ends[2] = {end(a, i), end(b, j)};
            const auto first = std::min(a.find_first_not_of('0', i), ends[0] - 1);
            const auto second = std::min(b.find_first_not_of('0', j), ends[1] - 1);
            const std::size_t lengths[2] = {ends[0] - first, ends[1] - second};
            const int order = lengths[0] != lengths[1]
                                  ? (lengths[0] < lengths[1] ? -1 : 1)
                                  : a.compare(first, lengths[0], b, second, lengths[1]);
            if (order != 0) {
                return order < 0;
            }
            i = ends[0];
            j = ends[1];
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            ++i;
            ++j;
        }
    }
    return a.size() - i < b.size() - j;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

/// Transports add a port or a kind to a device's name: "mlx5_0:1", "rdmap0s6-rdm".
bool is_device(const std::string& offered, const std::string& name) {
    return offered.starts_with(name) &&
           (offered.size() == name.size() || offered[name.size()] == ':' ||
            offered[name.size()] == '-');
}

const Nic* host_nic(const ProviderInfo& offer, const std::vector<Nic>& host) {
    const auto find = [&](const auto& fits) -> const Nic* {
        const auto found = std::find_if(host.begin(), host.end(), fits);
        return found == host.end() ? nullptr : &*found;
    };
    const Nic* nic = find([&](const Nic& n) { return n.name == offer.nic; });
    nic = nic ? nic : find([&](const Nic& n) { return is_device(offer.nic, n.name); });
    nic = nic ? nic : find([&](const Nic& n) {
        return !offer.pci.empty() && n.addresses.empty() && n.pci == offer.pci;
    });
    return nic ? nic : find([&](const Nic& n) {
        return !offer.address.empty() && contains(n.addresses, offer.address);
    });
}

void add_alias(NicCandidate& candidate, const std::string& name) {
    if (name != candidate.nic.name && !contains(candidate.aliases, name)) {
        candidate.aliases.push_back(name);
    }
}

NicCandidate& candidate_of(std::vector<NicCandidate>& all, const ProviderInfo& offer,
                           const std::vector<Nic>& host) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const NicCandidate& c) { return c.nic.name == offer.nic; });
    if (same != all.end()) {
        return *same;
    }
    NicCandidate& c = all.emplace_back();
    if (const Nic* nic = host_nic(offer, host)) {
        c.nic = *nic;
        c.nic.up = true;  // it is offered
        c.nic.name = offer.nic;
        add_alias(c, nic->name);
    }
    c.nic.name = offer.nic;
    c.nic.addresses.clear();
    if (const std::size_t colon = offer.nic.find(':'); colon != std::string::npos) {
        add_alias(c, offer.nic.substr(0, colon));  // hwloc may not know of the device
    }
    return c;
}

/// An interface that is offered itself means itself.
void add_interfaces(std::vector<NicCandidate>& all, const std::vector<Nic>& host) {
    for (NicCandidate& c : all) {
        for (const std::string& name : c.nic.interfaces) {
            if (std::any_of(all.begin(), all.end(),
                            [&](const NicCandidate& other) { return other.nic.name == name; })) {
                continue;
            }
            c.interfaces.push_back(name);
            for (const Nic& nic : host) {
                if (nic.name == name) {
                    c.interfaces.insert(c.interfaces.end(), nic.addresses.begin(),
                                        nic.addresses.end());
                }
            }
        }
    }
}

std::string obstacle_of(const Nic& nic, const std::string& source) {
    return !nic.up ? "is down" : "is not offered by " + source;
}

}  // namespace

std::vector<NicCandidate> nic_candidates(const NicOffers& offers, const std::vector<Nic>& host) {
    std::vector<NicCandidate> all;
    for (const ProviderInfo& offer : offers.nics) {
        NicCandidate& c = candidate_of(all, offer, host);
        if (!offer.address.empty() && !contains(c.nic.addresses, offer.address)) {
            c.nic.addresses.push_back(offer.address);
        }
        for (const Nic& nic : host) {
            if (contains(nic.addresses, offer.address)) {
                add_alias(c, nic.name);
            }
        }
    }
    add_interfaces(all, host);
    const auto is_interface = [&](const NicCandidate& c) {
        return std::any_of(host.begin(), host.end(), [&](const Nic& nic) {
            return nic.name == c.nic.name && !nic.addresses.empty();
        });
    };
    const bool devices = !std::all_of(all.begin(), all.end(), is_interface);
    for (NicCandidate& c : all) {
        c.reserve = devices && is_interface(c);
    }
    for (const Nic& nic : host) {
        const bool offered = std::any_of(all.begin(), all.end(), [&](const NicCandidate& c) {
            return c.nic.name == nic.name || contains(c.aliases, nic.name) ||
                   contains(c.interfaces, nic.name);
        });
        if (!offered) {
            all.push_back({nic, {}, false, obstacle_of(nic, offers.source)});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const NicCandidate& a, const NicCandidate& b) {
        return natural_less(a.nic.name, b.nic.name);
    });
    return all;
}

NicChoice choose_nics_here(const NicWish& wish, const NicSharing& sharing) {
    const Transport& transport = find_transport(wish.backend);
    if (transport.expect_peers != nullptr && wish.peers > 0) {
        transport.expect_peers(wish.peers);
    }
    const NicOffers offers = transport.nics(wish.provider);
    const bool open = wish.request.in_turn.empty() && wish.request.never.empty() &&
                      std::all_of(wish.request.by_port.begin(), wish.request.by_port.end(),
                                  [](const std::string& pattern) { return pattern.empty(); });
    const bool by_memory = sharing.all_here && offers.uses_shared_memory;
    if (open && (by_memory || !offers.settled_by.empty() || offers.nics.empty())) {
        NicChoice choice(wish.request.by_port.size());
        for (const Port port : wish.ports) {
            choice[port.index].why =
                offers.settled_by.empty()
                    ? by_memory ? "default: shared memory, all ranks are on this host"
                                : "default: the transport chooses"
                    : "left to " + offers.settled_by;
        }
        return choice;
    }
    std::vector<Nic> host = host_nics(machine_locality());
    if (!wish.may_lack.empty()) {
        ask_links(host);
    }
    NicSharing with_groups = sharing;
    if (offers.one_per_group) {
        with_groups.together = wish.groups;
    }
    return choose_nics(wish.request, nic_candidates(offers, host), wish.ports, with_groups,
                       wish.may_lack);
}

std::vector<std::string> selectors(const NicChoice& choice) {
    std::vector<std::string> list;
    for (const PortNic& port : choice) {
        list.push_back(port.selector);
    }
    return list;
}

std::string nic_text(const PortNic& port) {
    const std::string why =
        port.why +
        (port.sharing > 1 ? ", shared by " + std::to_string(port.sharing) + " ports" : "");
    return port.name.empty() ? why : port.name + " (" + why + ")";
}

}  // namespace trefoil
