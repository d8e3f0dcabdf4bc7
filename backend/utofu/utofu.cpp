// SPDX-License-Identifier: BSD-3-Clause
// Opens the port groups of backend "utofu", and tells what this machine has.
#include "backend/utofu/utofu.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "backend/utofu/group.hpp"
#include "backend/utofu/library.hpp"
#include "backend/utofu/logical_torus.hpp"
#include "backend/utofu/probe.hpp"
#include "topo/error.hpp"
#include "topo/variable.hpp"

namespace trefoil {

namespace {

/// What the hardware has at least; whether uTofu makes it longer is nowhere said.
constexpr std::uint32_t usual_notices = 2048;
constexpr std::uint32_t fewest_notices = 16;
constexpr std::uint32_t most_notices = 1U << 21;
/// For who does not tell.
constexpr std::uint32_t usual_peers = 8;

std::uint32_t notices_wanted() {
    const std::optional<std::string> text = environment_variable("TREFOIL_UTOFU_NOTICES");
    if (!text) {
        return usual_notices;
    }
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || end != text->data() + text->size() || number < fewest_notices ||
        number > most_notices) {
        throw Error(Status::invalid_argument,
                    "TREFOIL_UTOFU_NOTICES=" + *text + " is not a number of places between " +
                        std::to_string(fewest_notices) + " and " + std::to_string(most_notices));
    }
    return number;
}

bool thread_safe_wanted() {
    const std::optional<std::string> text = environment_variable("TREFOIL_UTOFU_THREAD_SAFE");
    if (text && *text != "0" && *text != "1") {
        throw Error(Status::invalid_argument,
                    "TREFOIL_UTOFU_THREAD_SAFE=" + *text + " is neither 0 nor 1");
    }
    return text && *text == "1";
}

void require_no_choice(const BackendConfig& config) {
    if (!config.provider.empty()) {
        throw Error(Status::not_found, "backend utofu has no provider \"" + config.provider +
                                           "\": it has none to choose from; leave the provider "
                                           "empty (TREFOIL_PROVIDER)");
    }
    for (const std::string& nic : config.nics) {
        if (!nic.empty()) {
            throw Error(Status::not_found, "backend utofu has no NIC \"" + nic +
                                               "\": it spreads the ports over the node's network "
                                               "interfaces itself; leave TREFOIL_NICS empty");
        }
    }
}

std::vector<std::unique_ptr<PortGroup>> open_utofu(const BackendConfig& config) {
    require_no_choice(config);
    const std::uint32_t notices = notices_wanted();
    const bool shared = thread_safe_wanted() || !config.alone_in_process;
    const std::vector<utofu::Interface> all = utofu::interfaces();
    auto grants = utofu::Claims::of_process().claim(config, all, shared);
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (std::size_t i = 0; i < config.groups.size(); ++i) {
        const std::size_t ports = config.groups[i].size();
        utofu::GroupOptions options;
        options.ports = config.groups[i];
        options.peers = config.peers > 0 ? static_cast<std::uint32_t>(config.peers) : usual_peers;
        options.notices = notices;
        // Who shares an interface does not know with whom: as many as it has components.
        if (grants[i].hold->shared()) {
            options.sharers = std::max(all.front().caps.num_cmp_ids, 1U);
        } else if (ports > 0) {
            const std::size_t mine = grants[i].interfaces.front().size();
            // One more, for a port whose own interface is full.
            options.sharers = static_cast<std::uint32_t>((ports + mine - 1) / mine) + 1;
        }
        options.grant = std::move(grants[i]);
        groups.push_back(std::make_unique<utofu::UtofuGroup>(std::move(options)));
    }
    return groups;
}

std::vector<ProviderInfo> utofu_providers() {
    std::vector<ProviderInfo> list;
    const std::vector<utofu::Interface> all = utofu::interfaces();
    const std::string place = utofu::coordinates_text();
    for (const utofu::Interface& each : all) {
        list.push_back({"", "tni" + std::to_string(each.number), place});
    }
    return list;
}

NicOffers utofu_nics(const std::string&) {
    NicOffers none;
    none.source = "backend utofu, which spreads ports over its interfaces itself";
    none.uses_shared_memory = true;
    return none;
}

LibraryInfo utofu_library() {
    try {
        const std::vector<utofu::Interface> all = utofu::interfaces();
        const utofu_onesided_caps& caps = all.front().caps;
        return {"uTofu", "interface 1.0",
                std::to_string(all.size()) + " network interfaces at " + utofu::coordinates_text() +
                    ", longest put " + std::to_string(caps.max_putget_size) + " bytes"};
    } catch (const Error& error) {
        return {"uTofu", "", error.what()};
    }
}

std::vector<Rank> utofu_place() {
    try {
        return utofu::coordinates();
    } catch (const Error&) {  // what opens ports says it
        return {};
    }
}

std::string utofu_lacks() {
    const LibraryInfo library = utofu_library();
    return library.version.empty() ? library.note : std::string();
}

}  // namespace

Transport utofu_transport() {
    Transport transport;
    transport.name = "utofu";
    transport.summary = "uTofu: one-sided puts of Fugaku and its relatives";
    transport.open = open_utofu;
    transport.providers = utofu_providers;
    transport.nics = utofu_nics;
    transport.library = utofu_library;
    transport.probe = utofu::probe;
    transport.place = utofu_place;
    transport.torus_of = utofu::logical_torus;
    transport.machine_lacks = utofu_lacks;
    return transport;
}

}  // namespace trefoil
