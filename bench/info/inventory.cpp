// SPDX-License-Identifier: BSD-3-Clause
// Collects what this build and this machine offer.
#include "bench/info/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "backend/registry/libraries.hpp"
#include "backend/registry/transports.hpp"
#include "backend/system/kernel_access.hpp"
#include "bench/common/names.hpp"
#include "bench/info/port_map.hpp"
#include "bench/info/settings_list.hpp"
#include "bench/plan/text.hpp"
#include "comm/setup/environment.hpp"
#include "include/trefoil/trefoil.h"
#include "threads/kernels/reduce.hpp"
#include "topo/core_list.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"
#include "topo/locality.hpp"
#include "topo/nic.hpp"
#include "topo/rank_cores.hpp"
#include "topo/words.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

Json build() {
    return {{"compiler", TREFOIL_TOOL_COMPILER},
            {"type", TREFOIL_TOOL_BUILD_TYPE},
            {"sanitizers", *TREFOIL_TOOL_SANITIZERS == '\0' ? "none" : TREFOIL_TOOL_SANITIZERS}};
}

Json machine() {
    const std::string refusal = why_no_kernel_access();
    return {{"host", host_name()},
            {"description", machine_text()},
            {"cores", allowed_cores()},
            {"memory_of_others", refusal.empty() ? "yes" : refusal}};
}

Json backend_list() {
    Json list = Json::array();
    for (const Transport& b : transports()) {
        list.push_back({{"name", b.name},
                        {"present", b.built() ? "yes" : "no"},
                        {"about", b.built() ? std::string(b.summary) : b.absence}});
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
    for (const Transport& b : transports()) {
        if (!b.built()) {
            continue;
        }
        try {
            for (const ProviderInfo& p : b.providers()) {
                add(b.name, p);
            }
        } catch (const Error& error) {
            add(b.name, {"none", "", error.what()});
        }
    }
    return list;
}

Json library_list(const Locality& locality) {
    Json list = Json::array();
    for (const LibraryInfo& l : libraries()) {
        list.push_back({{"name", l.name}, {"version", l.version}, {"note", l.note}});
    }
    const std::string& absence = locality.absence;
    list.push_back({{"name", "hwloc"},
                    {"version", absence.empty() ? locality_library() : ""},
                    {"note", absence}});
    return list;
}

/// Interfaces and fabric devices, up or not.
Json interface_list(const std::vector<Nic>& nics) {
    Json list = Json::array();
    for (const Nic& nic : nics) {
        list.push_back({{"name", nic.name},
                        {"addresses", nic.addresses},
                        {"state", state_text(nic)},
                        {"pci", nic.pci.empty() ? "-" : nic.pci},
                        {"numa_node", nic.numa_node < 0 ? "-" : std::to_string(nic.numa_node)},
                        {"cores", nic.cores.empty() ? "-" : core_list_text(nic.cores)}});
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
                        {"traits", traits_text(a)},
                        {"modifiers", modifiers(a.abilities)},
                        {"identical_results", a.traits.identical_results},
                        {"paper", a.paper}});
        if (torus != nullptr) {
            list.back()["refusal"] = a.refusal(*torus);
        }
    }
    return list;
}

/// One line per port of rank 0: where it leads, who drives it, where it is attached. The last is
/// found by opening the ports, as a communicator would.
/// The element types, and the operations that each of them takes.
Json datatype_list() {
    Json list = Json::array();
    for (int t = 0; t < datatype_count; ++t) {
        const auto type = static_cast<DataType>(t);
        Json taken = Json::array();
        for (int o = 0; o < operation_count; ++o) {
            const auto operation = static_cast<Operation>(o);
            if (reduce_kernels(type, operation).reduce != nullptr) {
                taken.push_back(to_string(operation));
            }
        }
        list.push_back({{"name", to_string(type)},
                        {"bytes", std::to_string(size_of(type))},
                        {"operations", taken}});
    }
    return list;
}

Json port_list(const Torus& torus, const PortMap& map, const std::vector<Nic>& nics) {
    Json list = Json::array();
    for (int index = 0; index < torus.ports(); ++index) {
        const Port port{index};
        const bool used = torus.size(port.dimension()) > 1;
        const auto nic = std::find_if(nics.begin(), nics.end(), [&](const Nic& n) {
            return used && n.name == map.nic(port).name;
        });
        const bool near_one = nic != nics.end() && nic->numa_node >= 0;
        const std::vector<int>& cores = map.nic(port).cores;
        list.push_back(
            {{"port", to_string(port)},
             {"direction", fmt::format("{} coordinates of dimension {}",
                                       port.sign() > 0 ? "larger" : "smaller", port.dimension())},
             {"neighbour", used ? rank_text(torus, torus.neighbour(0, port)) : "none"},
             {"nic", used ? map.attachment(port) : "none"},
             {"numa_node", near_one ? std::to_string(nic->numa_node) : "-"},
             {"near_cores", used && !cores.empty() ? core_list_text(cores) : "-"},
             {"driven_by", used ? map.owner(port) : "nobody"},
             {"chosen", used ? map.choice(port) : "-"}});
    }
    return list;
}

/// The cores of each of a node's ranks as `trefoil run` binds them.
std::vector<std::vector<int>> bound_cores(const Locality& locality, int ranks) {
    const std::vector<int> allowed = allowed_cores();
    auto cores = cores_by_rank(locality.numa_nodes, allowed, ranks);
    if (cores.empty()) {
        cores.assign(static_cast<std::size_t>(ranks), allowed);
    }
    return cores;
}

/// "0,1": the ranks that may use cores of `numa`, by the cores of each.
std::string ranks_near(const NumaNode& numa, const std::vector<std::vector<int>>& cores) {
    std::vector<int> near;
    for (std::size_t rank = 0; rank < cores.size(); ++rank) {
        const auto is_here = [&](int core) { return std::ranges::count(numa.cores, core) > 0; };
        if (std::ranges::any_of(cores[rank], is_here)) {
            near.push_back(static_cast<int>(rank));
        }
    }
    return near.empty() ? "-" : core_list_text(near);
}

/// A node of several ranks, by NUMA node: its cores, the ranks there, the NICs there, and the ports
/// on them.
Json node_list(const Torus& torus, const PortMap& map, const std::vector<Nic>& nics,
               const Locality& locality) {
    Json list = Json::array();
    const auto cores = bound_cores(locality, torus.per_node());
    for (const NumaNode& numa : locality.numa_nodes) {
        std::vector<std::string> here, ports;
        for (const Nic& nic : nics) {
            if (nic.numa_node == numa.number) {
                here.push_back(nic.name);
            }
        }
        for (int index = 0; index < torus.ports(); ++index) {
            if (std::ranges::count(here, map.nic(Port{index}).name) > 0) {
                ports.push_back(to_string(Port{index}));
            }
        }
        list.push_back({{"numa_node", std::to_string(numa.number)},
                        {"cores", core_list_text(numa.cores)},
                        {"ranks", ranks_near(numa, cores)},
                        {"nics", here.empty() ? "-" : joined(here)},
                        {"ports", ports.empty() ? "-" : joined(ports)}});
    }
    return list;
}

/// Which backend and provider carry the data, and why.
Json transport_choice(const InfoRequest& request, const Settings& settings, const PortMap& map) {
    const std::string provider = map.provider();
    return {{"backend", transport_for(settings.backend, true).name},
            {"reason", !request.backend.empty() ? "--backend"
                       : settings.backend.empty()
                           ? fmt::format("all ranks share this host; {} on several",
                                         default_transport(false).name)
                           : "TREFOIL_BACKEND"},
            {"provider", provider},
            {"provider_reason", provider.empty()            ? "the backend has one, or refuses"
                                : !request.provider.empty() ? "--provider"
                                : settings.provider.empty() ? "first in the order of preference"
                                                            : "TREFOIL_PROVIDER"}};
}

/// How the threads that drive ports fit the cores, when all ranks run here.
std::string threads_text(const Torus& torus, const PortMap& map) {
    return fmt::format("{}; {}",
                       map.threads() == 0
                           ? std::string("the calling thread drives all ports of a rank")
                           : fmt::format("{} port threads per rank", map.threads()),
                       map.may_spin() ? "those that wait spin briefly"
                                      : fmt::format("{} ranks share {} cores, so those that wait "
                                                    "yield, then sleep",
                                                    torus.ranks(), allowed_cores().size()));
}

}  // namespace

Json inventory(const InfoRequest& request) {
    const Json foreign = foreign_variables();  // before a backend sets its own
    InfoSettings in_force = info_settings(request);
    const Settings& settings = in_force.settings;
    std::optional<ChosenTorus> chosen;
    try {
        chosen = choose_torus(request, settings);
    } catch (const Error& error) {
        if (!request.torus.empty() || request.ranks != 0) {
            throw;  // asked for; otherwise the environment's fault
        }
        in_force.warnings.emplace_back(error.what());
    }
    const Locality locality = machine_locality();
    const std::vector<Nic> nics = host_nics(locality);
    Json all{{"trefoil", fmt::format("{}.{}.{}", TREFOIL_VERSION_MAJOR, TREFOIL_VERSION_MINOR,
                                     TREFOIL_VERSION_PATCH)},
             {"build", build()},
             {"machine", machine()},
             {"libraries", library_list(locality)},
             {"launcher", launcher_choice(settings)},
             {"backends", backend_list()},
             {"providers", provider_list()},
             {"interfaces", interface_list(nics)}};
    if (!locality.absence.empty()) {
        in_force.warnings.push_back("nobody knows which cores are near which NIC: " +
                                    locality.absence);
    }
    if (chosen) {
        const Torus& torus = chosen->torus;
        const PortMap map(torus, settings);
        all["torus"] = torus.name();
        all["torus_source"] = chosen->source;
        all["ranks"] = torus.ranks();
        all["transport"] = transport_choice(request, settings, map);
        all["threads"] = threads_text(torus, map);
        all["ports"] = port_list(torus, map, nics);
        all["ranks_per_node"] = torus.per_node();
        all["node"] = torus.has_nodes() ? node_list(torus, map, nics, locality) : Json::array();
        all["automatic"] = automatic_algorithms(torus, settings);
        if (!map.note().empty()) {
            in_force.warnings.push_back(map.note());
        }
    }
    all["algorithms"] = algorithm_list(chosen ? &chosen->torus : nullptr);
    all["datatypes"] = datatype_list();
    all["environment"] = settings_list(in_force);
    all["libraries_environment"] = foreign;
    all["warnings"] = in_force.warnings;
    return all;
}

}  // namespace trefoil::tool
