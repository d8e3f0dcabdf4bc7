// SPDX-License-Identifier: BSD-3-Clause
// Collects what this build and this machine offer.
#include "bench/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "algorithms/algorithm.hpp"
#include "backend/endpoint.hpp"
#include "bench/names.hpp"
#include "bench/plan_text.hpp"
#include "bench/port_map.hpp"
#include "comm/environment.hpp"
#include "include/trefoil/trefoil.h"
#include "topo/error.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

Json build() {
    return {{"compiler", TREFOIL_TOOL_COMPILER},
            {"type", TREFOIL_TOOL_BUILD_TYPE},
            {"sanitizers", *TREFOIL_TOOL_SANITIZERS == '\0' ? "none" : TREFOIL_TOOL_SANITIZERS}};
}

Json backend_list() {
    Json list = Json::array();
    for (const BackendInfo& b : backends()) {
        list.push_back({{"name", b.name},
                        {"present", b.built ? "yes" : "no"},
                        {"about", b.built ? std::string(b.summary) : b.reason}});
    }
    return list;
}

/// What a backend can be told to use, one line per NIC; a library that cannot say is a line of its
/// own, not the end.
Json provider_list() {
    Json list = Json::array();
    const auto add = [&](std::string_view backend, const ProviderInfo& p) {
        const auto same = std::find_if(list.begin(), list.end(), [&](const Json& row) {
            return row["backend"] == backend && row["provider"] == p.provider &&
                   row["nic"] == p.nic;
        });
        if (same == list.end()) {
            list.push_back({{"backend", backend},
                            {"provider", p.provider},
                            {"nic", p.nic},
                            {"addresses", Json::array({p.address})}});
            return;
        }
        Json& addresses = (*same)["addresses"];
        if (std::find(addresses.begin(), addresses.end(), p.address) == addresses.end()) {
            addresses.push_back(p.address);
        }
    };
    for (const BackendInfo& b : backends()) {
        if (!b.built) {
            continue;
        }
        try {
            for (const ProviderInfo& p : providers(b.name)) {
                add(b.name, p);
            }
        } catch (const Error& error) {
            add(b.name, {"none", "", error.what()});
        }
    }
    return list;
}

Json interface_list() {
    Json list = Json::array();
    for (const NetworkInterface& i : network_interfaces()) {
        list.push_back(
            {{"name", i.name},
             {"address", i.address},
             {"state", std::string(i.up ? "up" : "down") + (i.loopback ? ", loopback" : "")},
             {"numa_node", i.numa_node < 0 ? "-" : std::to_string(i.numa_node)}});
    }
    return list;
}

Json algorithm_list(const Torus* torus) {
    Json list = Json::array();
    for (const Algorithm& a : algorithms()) {
        list.push_back({{"name", a.name},
                        {"collective", to_string(a.collective)},
                        {"summary", a.summary},
                        {"shapes", a.shapes},
                        {"traits", traits_text(a.traits)},
                        {"identical_results", a.traits.identical_results},
                        {"paper", a.paper}});
        if (torus != nullptr) {
            list.back()["refusal"] = a.refusal(*torus);
        }
    }
    return list;
}

Json environment_list() {
    Json list = Json::array();
    for (const EnvironmentVariable& v : environment_variables()) {
        const char* value = std::getenv(std::string(v.name).c_str());
        list.push_back({{"name", v.name},
                        {"type", v.type},
                        {"default", v.default_value.empty() ? "-" : v.default_value},
                        {"value", value == nullptr ? "-" : value},
                        {"help", v.help}});
    }
    return list;
}

/// One line per port of rank 0: where it leads, who drives it, where it is attached. The last is
/// found by opening the ports, as a communicator would.
Json port_list(const Torus& torus) {
    const PortMap map(torus);
    Json list = Json::array();
    for (int index = 0; index < torus.ports(); ++index) {
        const Port port{index};
        const bool used = torus.size(port.dimension()) > 1;
        list.push_back(
            {{"port", to_string(port)},
             {"direction", fmt::format("{} coordinates of dimension {}",
                                       port.sign() > 0 ? "larger" : "smaller", port.dimension())},
             {"neighbour", used ? rank_text(torus, torus.neighbour(0, port)) : "none"},
             {"driven_by", used ? map.owner(port) : "nobody"},
             {"nic", used ? map.attachment(port) : "none"}});
    }
    return list;
}

}  // namespace

Json inventory(const std::string& torus_text) {
    std::optional<Torus> torus;
    if (!torus_text.empty()) {
        torus = Torus::parse(torus_text);
    }
    Json all{{"trefoil", fmt::format("{}.{}.{}", TREFOIL_VERSION_MAJOR, TREFOIL_VERSION_MINOR,
                                     TREFOIL_VERSION_PATCH)},
             {"build", build()},
             {"machine",
              {{"host", host_name()}, {"description", machine_text()}, {"cores", allowed_cores()}}},
             {"backends", backend_list()},
             {"providers", provider_list()},
             {"interfaces", interface_list()}};
    if (torus) {
        all["torus"] = torus->name();
        all["ports"] = port_list(*torus);
    }
    all["algorithms"] = algorithm_list(torus ? &*torus : nullptr);
    all["environment"] = environment_list();
    all["warnings"] = unknown_variables();
    return all;
}

}  // namespace trefoil::tool
