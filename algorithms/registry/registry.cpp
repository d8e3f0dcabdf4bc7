// SPDX-License-Identifier: BSD-3-Clause
// The list of algorithms, joined from its families, and look-up by name.
#include "algorithms/registry/registry.hpp"

#include <string>
#include <vector>

#include "algorithms/registry/entries.hpp"
#include "algorithms/schedule/by_node.hpp"
#include "algorithms/schedule/nearest_names.hpp"
#include "topo/error.hpp"
#include "topo/words.hpp"

namespace trefoil {

namespace {

std::vector<std::string> names_of(Collective collective) {
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms()) {
        if (a.collective == collective) {
            names.emplace_back(a.name);
        }
    }
    return names;
}

[[noreturn]] void throw_not_found(Collective collective, std::string_view name) {
    const std::vector<std::string> names = names_of(collective);
    const std::vector<std::string> nearest = nearest_names(name, names);
    const std::string offer = nearest.empty() ? "choose one of " + joined(names)
                                              : "did you mean " + joined(nearest) + "?";
    throw Error(Status::not_found, "there is no " + std::string(to_string(collective)) +
                                       " algorithm \"" + std::string(name) + "\"; " + offer);
}

}  // namespace

std::span<const Algorithm> algorithms() {
    static const auto& all = *new std::vector<Algorithm>([] {
        std::vector<Algorithm> joined;
        for (const auto family :
             {allreduce_entries(), reduce_scatter_allgather_entries(), butterfly_entries(),
              spanning_tree_entries(), tree_entries(), alltoall_entries(), alltoall_ring_entries(),
              scan_entries(), neighbour_entries(), single_copy_entries(), baseline_entries(),
              published_entries(), packed_entries(), few_steps_entries()}) {
            joined.insert(joined.end(), family.begin(), family.end());
        }
        for (Algorithm& algorithm : joined) {
            algorithm.abilities.by_node = suits_nodes(algorithm);
        }
        return joined;
    }());
    return all;
}

const Algorithm& find_algorithm(Collective collective, std::string_view name, const Torus* torus) {
    for (const Algorithm& a : algorithms()) {
        if (a.collective != collective || a.name != name) {
            continue;
        }
        const std::string reason = torus == nullptr ? std::string() : a.refusal(*torus);
        if (!reason.empty()) {
            throw Error(Status::unsupported, "algorithm " + std::string(name) +
                                                 " does not run on the torus " + torus->name() +
                                                 ": " + reason);
        }
        return a;
    }
    throw_not_found(collective, name);
}

}  // namespace trefoil
