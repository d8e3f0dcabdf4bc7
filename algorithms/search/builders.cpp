// SPDX-License-Identifier: BSD-3-Clause
// What was found for one rank serves the others.
#include "algorithms/search/builders.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include "algorithms/schedule/kept.hpp"
#include "algorithms/search/exchange_schedules.hpp"
#include "algorithms/search/prices.hpp"
#include "algorithms/search/tree_schedules.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

namespace {

using Schedules = std::vector<Schedule>;

std::shared_ptr<const WayTable> ways_of(const Torus& torus, bool reversed) {
    static auto& kept = *new Kept<std::pair<std::string, bool>, WayTable>(4);
    return kept.get({torus.name(), reversed}, [&] {
        return std::make_shared<const WayTable>(reversed ? WayTable(torus).reversed()
                                                         : WayTable(torus));
    });
}

std::shared_ptr<const std::optional<Exchange>> exchange_of(const Torus& torus,
                                                           Collective collective) {
    static auto& kept = *new Kept<std::pair<std::string, Collective>, std::optional<Exchange>>(6);
    return kept.get({torus.name(), collective}, [&] {
        return std::make_shared<const std::optional<Exchange>>(
            find_coset_exchange(torus, *ways_of(torus, collective == Collective::reduce_scatter),
                                collective == Collective::allreduce));
    });
}

/// What costs an allreduce less: an exchange, or a tree up and down from a rank in the middle.
Schedules summed(const Torus& torus) {
    const std::shared_ptr<const WayTable> ways = ways_of(torus, false);
    Rank middle = 0;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        middle = ways->eccentricity(r) < ways->eccentricity(middle) ? r : middle;
    }
    const FewStepTree tree = find_few_step_tree(*ways, middle, 2);
    const auto exchange = exchange_of(torus, Collective::allreduce);
    const int there_and_back = price(2 * tree.steps, tree.per_port, 2 * tree.hops, 0);
    const bool exchanges =
        *exchange && price(static_cast<int>(std::ssize((*exchange)->steps)), (*exchange)->per_port,
                           (*exchange)->hops, (*exchange)->stored) <= there_and_back;
    return exchanges ? exchange_schedules(**exchange, torus.ranks(), Collective::allreduce)
                     : tree_schedules(tree, torus.ranks(), TreeUse::both);
}

Schedules found(Collective collective, const Torus& torus, Rank root) {
    switch (collective) {
        case Collective::allreduce:
            return summed(torus);
        case Collective::bcast:
            return tree_schedules(find_few_step_tree(*ways_of(torus, false), root), torus.ranks(),
                                  TreeUse::down);
        case Collective::reduce:
            return tree_schedules(find_few_step_tree(*ways_of(torus, true), root), torus.ranks(),
                                  TreeUse::up);
        default:
            return exchange_schedules(**exchange_of(torus, collective), torus.ranks(), collective);
    }
}

}  // namespace

std::string few_step_refusal(const Torus& torus) {
    if (torus.has_nodes()) {
        return "it is found between nodes; by-node takes it there";
    }
    if (torus.ranks() > most_few_step_ranks) {
        return "it is for up to " + std::to_string(most_few_step_ranks) + " ranks";
    }
    if (torus.ports() > WayTable::most_ports) {
        return "it is for up to " + std::to_string(WayTable::most_ports) + " ports";
    }
    return Fabric(torus).is_connected()
               ? std::string()
               : "the links of " + torus.name() + " that work do not join all its ranks";
}

std::string few_step_exchange_refusal(const Torus& torus) {
    std::string reason = few_step_refusal(torus);
    if (reason.empty() && (!*exchange_of(torus, Collective::allgather) ||
                           !*exchange_of(torus, Collective::reduce_scatter))) {
        reason = "no chain of subgroups of " + torus.name() +
                 " grows by so few times in each step that a rank's ports serve";
    }
    return reason;
}

double few_step_landing(const Torus& torus, const BuildOptions&) {
    const auto exchange = exchange_of(torus, Collective::allreduce);
    return *exchange ? static_cast<double>(std::ssize((*exchange)->steps)) : 1;
}

Schedule build_few_steps(Collective collective, const Torus& torus, Rank rank,
                         const BuildOptions& options) {
    using Key = std::tuple<std::string, Collective, Rank>;
    static auto& kept = *new Kept<Key, Schedules>(8);
    const Rank root = traits_of(collective).rooted() ? options.root : 0;
    return (*kept.get({torus.name(), collective, root}, [&] {
        return std::make_shared<const Schedules>(found(collective, torus, root));
    }))[to_index(rank)];
}

}  // namespace trefoil
