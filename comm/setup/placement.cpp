// SPDX-License-Identifier: BSD-3-Clause
// The placement rules.
#include "comm/setup/placement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "backend/registry/transports.hpp"
#include "threads/workers/port_threads.hpp"
#include "topo/core_list.hpp"
#include "topo/error.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

namespace {

bool contains(const std::vector<int>& sorted, int core) {
    return std::binary_search(sorted.begin(), sorted.end(), core);
}

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
    return std::any_of(a.begin(), a.end(), [&](int core) { return contains(b, core); });
}

std::vector<int> union_of(const std::vector<LocalRank>& ranks) {
    std::set<int> all;
    for (const LocalRank& rank : ranks) {
        all.insert(rank.mask.begin(), rank.mask.end());
    }
    return {all.begin(), all.end()};
}

/// The calling thread counts where there are no port threads.
std::size_t workers(const LocalRank& rank) {
    return std::max<std::size_t>(1, rank.near.size());
}

/// Those that can run nowhere but on `cores` fit there.
bool enough(const std::vector<LocalRank>& ranks, const std::vector<int>& cores) {
    std::size_t confined = 0;
    for (const LocalRank& rank : ranks) {
        confined += std::includes(cores.begin(), cores.end(), rank.mask.begin(), rank.mask.end())
                        ? workers(rank)
                        : 0;
    }
    return confined <= cores.size();
}

/// The first limit of a control group that is less than what the ranks in it work; null: all have
/// time.
const CpuQuota* exceeded_quota(const std::vector<LocalRank>& ranks) {
    for (const LocalRank& one : ranks) {
        for (const CpuQuota& quota : one.quotas) {
            std::size_t busy = 0;
            for (const LocalRank& rank : ranks) {
                const bool inside = std::ranges::any_of(
                    rank.quotas, [&](const CpuQuota& other) { return quota.is_same_group(other); });
                busy += inside ? workers(rank) : 0;
            }
            if (static_cast<double>(busy) > quota.cores) {
                return &quota;
            }
        }
    }
    return nullptr;
}

/// A rank's part of its own list: the list is divided among the ranks that give one.
std::vector<int> part_of_list(const std::vector<LocalRank>& ranks, std::size_t self) {
    const std::vector<int>& list = ranks[self].list;
    std::size_t number = 0, of = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        number += r < self && !ranks[r].list.empty() ? 1 : 0;
        of += ranks[r].list.empty() ? 0 : 1;
    }
    if (list.size() < of) {
        return {list[number % list.size()]};
    }
    return {list.begin() + static_cast<std::ptrdiff_t>(number * list.size() / of),
            list.begin() + static_cast<std::ptrdiff_t>((number + 1) * list.size() / of)};
}

void require_allowed(const std::vector<int>& list, const std::vector<int>& mask,
                     const std::string& whose) {
    for (const int core : list) {
        if (!contains(mask, core)) {
            throw Error(Status::invalid_argument,
                        "TREFOIL_PIN: core " + std::to_string(core) + " is not among the cores " +
                            whose + " may use (" + core_list_text(mask) +
                            "); list only those, or widen the mask (taskset, the launcher's "
                            "binding)");
        }
    }
}

/// The cores of all threads of all ranks; empty where they are not pinned.
std::vector<std::vector<int>> place_all(const std::vector<LocalRank>& ranks) {
    std::vector<std::vector<int>> placed(ranks.size());
    std::map<int, int> load;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        if (ranks[r].pin && !ranks[r].list.empty()) {
            const std::vector<int> part = part_of_list(ranks, r);
            for (std::size_t i = 0; i < ranks[r].near.size(); ++i) {
                placed[r].push_back(part[i % part.size()]);
                ++load[placed[r].back()];
            }
        }
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        for (std::size_t i = 0; ranks[r].pin && ranks[r].list.empty() && i < ranks[r].near.size();
             ++i) {
            const std::vector<int>& near = ranks[r].near[i];
            const auto worse = [&](int core) {
                return std::tuple(load[core], !contains(near, core), core);
            };
            placed[r].push_back(
                *std::min_element(ranks[r].mask.begin(), ranks[r].mask.end(),
                                  [&](int a, int b) { return worse(a) < worse(b); }));
            ++load[placed[r].back()];
        }
    }
    return placed;
}

}  // namespace

std::vector<Port> used_ports(const Torus& torus) {
    std::vector<Port> ports;
    for (int p = 0; p < torus.ports(); ++p) {
        const int dimension = Port{p}.dimension();
        if (wired(torus).size(dimension) > 1 || torus.size(dimension) > 1) {
            ports.push_back(Port{p});
        }
    }
    return ports;
}

std::vector<Port> inside_ports(const Torus& torus, const Settings& settings) {
    const Transport* const transport = registered_transport(settings.backend);
    const bool apart = torus.per_node() > 1 && torus.nodes().ranks() > 1 && transport != nullptr &&
                       !transport->one_host_only;
    const int host = torus.dimensions() - 1;
    return apart ? std::vector{Port::plus(host), Port::minus(host)} : std::vector<Port>();
}

void settle_port_threads(const Torus& torus, Settings& settings) {
    const auto refuse = [](const std::string& text) {
        throw Error(Status::invalid_argument, text);
    };
    const int threads = settings.port_threads;
    if (threads > torus.ports()) {
        refuse("TREFOIL_PORT_THREADS is " + std::to_string(threads) + ", but torus " +
               torus.name() + " has " + std::to_string(torus.ports()) +
               " ports per rank; give 0 to " + std::to_string(torus.ports()));
    }
    if (settings.port_threads_by == PortThreadsBy::dedicated) {
        return;
    }
    if (!settings.pin_cores.empty()) {
        refuse(
            "TREFOIL_PIN lists cores, but only threads of TREFOIL_PORT_THREADS_BY=dedicated are "
            "pinned; "
            "give none, or pin OpenMP threads by OMP_PLACES");
    }
    settings.pin = false;
    if (settings.port_threads_by == PortThreadsBy::caller && threads > 0) {
        refuse("TREFOIL_PORT_THREADS_BY=caller has no port threads, but " +
               std::to_string(threads) +
               " are asked for; give 0, or choose TREFOIL_PORT_THREADS_BY=dedicated");
    }
    if (settings.port_threads_by == PortThreadsBy::openmp && threads == 0) {
        refuse(
            "TREFOIL_PORT_THREADS_BY=openmp needs threads, but 0 are asked for; leave the number "
            "of port "
            "threads open, or choose TREFOIL_PORT_THREADS_BY=caller");
    }
    if (settings.port_threads_by == PortThreadsBy::openmp) {
        settings.port_threads = std::min(openmp_threads(std::max(0, threads)), torus.ports());
    }
}

PortGroups group_ports(const Torus& torus, const Settings& settings,
                       const std::vector<std::vector<int>>& masks, int self, double cores_in_time) {
    std::vector<Port> ports = used_ports(torus);
    const std::vector<Port> inside = inside_ports(torus, settings);
    std::erase_if(ports,
                  [&](Port port) { return std::ranges::find(inside, port) != inside.end(); });
    std::vector<int> mine = settings.pin_cores.empty() ? masks[self] : settings.pin_cores;
    std::sort(mine.begin(), mine.end());
    const auto sharers = std::count_if(masks.begin(), masks.end(), [&](const auto& mask) {
        return &mask == &masks[self] || overlap(mine, mask);
    });
    const int share = static_cast<int>(std::min(
        static_cast<double>(mine.size() / static_cast<std::size_t>(sharers)), cores_in_time));
    const int wanted = settings.port_threads_by == PortThreadsBy::caller ? 0
                       : settings.port_threads >= 0                      ? settings.port_threads
                       : share >= 2                                      ? share
                                                                         : 0;
    PortGroups result;
    result.threads = std::min(wanted, static_cast<int>(ports.size()));
    result.groups.resize(std::max(1, result.threads));
    for (std::size_t i = 0; i < ports.size(); ++i) {
        result.groups[i % result.groups.size()].push_back(ports[i]);
    }
    if (!inside.empty()) {
        result.groups.push_back(inside);
        result.has_inside = true;
    }
    return result;
}

Placement place_threads(const std::vector<LocalRank>& ranks, int self) {
    const LocalRank& mine = ranks[self];
    const std::vector<int> all = union_of(ranks);
    if (mine.pin && !mine.list.empty()) {
        require_allowed(mine.list, all, "the ranks of this host");
        require_allowed(part_of_list(ranks, self), mine.mask, "this rank");
    }
    Placement placement;
    placement.cores = place_all(ranks)[self];
    const CpuQuota* const exceeded = exceeded_quota(ranks);
    placement.may_spin = exceeded == nullptr && enough(ranks, all) &&
                         std::all_of(ranks.begin(), ranks.end(), [&](const LocalRank& rank) {
                             return enough(ranks, rank.mask);
                         });
    std::size_t threads = 0;
    for (const LocalRank& rank : ranks) {
        threads += workers(rank);
    }
    if (exceeded != nullptr || threads > all.size()) {
        placement.oversubscription = std::to_string(threads) + " threads drive the ports of " +
                                     std::to_string(ranks.size()) +
                                     (ranks.size() == 1 ? " rank" : " ranks") +
                                     " on this host, which may use " + std::to_string(all.size()) +
                                     (all.size() == 1 ? " core" : " cores");
        if (exceeded != nullptr) {
            placement.oversubscription +=
                ", where a control group has time for " + core_time_text(exceeded->cores);
        }
    }
    return placement;
}

std::vector<int> cores_near(const std::vector<Port>& ports, const NicChoice& nics) {
    std::set<int> cores;
    for (const Port port : ports) {
        cores.insert(nics[port.index].cores.begin(), nics[port.index].cores.end());
    }
    return {cores.begin(), cores.end()};
}

}  // namespace trefoil
