// SPDX-License-Identifier: BSD-3-Clause
// What was found for one rank serves the others.
#include "algorithms/search/builders.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
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

constexpr std::size_t most_kept = 16;

std::shared_ptr<const WayTable> ways_of(const Torus& torus, bool reversed) {
    static auto& kept = *new Kept<std::string, WayTable>(most_kept);
    static auto& kept_reversed = *new Kept<std::string, WayTable>(most_kept);
    const auto ways =
        kept.get(torus.name(), [&] { return std::make_shared<const WayTable>(torus); });
    return !reversed ? ways : kept_reversed.get(torus.name(), [&] {
        return std::make_shared<const WayTable>(ways->reversed());
    });
}

std::shared_ptr<const std::optional<Exchange>> exchange_of(const Torus& torus,
                                                           Collective collective) {
    using Key = std::pair<std::string, Collective>;
    static auto& kept = *new Kept<Key, std::optional<Exchange>>(most_kept);
    return kept.get({torus.name(), collective}, [&] {
        return std::make_shared<const std::optional<Exchange>>(
            find_coset_exchange(torus, *ways_of(torus, collective == Collective::reduce_scatter),
                                collective == Collective::allreduce));
    });
}

/// Of a bcast, or of a reduce. Ranks of a whole torus are alike, so there the tree of rank 0 serves
/// all roots: whoever changes roots waits for one search.
FewStepTree tree_from(const Torus& torus, Rank root, bool reversed) {
    if (!torus.is_whole()) {
        return find_few_step_tree(*ways_of(torus, reversed), root);
    }
    using Key = std::pair<std::string, bool>;
    static auto& kept = *new Kept<Key, FewStepTree>(most_kept);
    FewStepTree tree = *kept.get({torus.name(), reversed}, [&] {
        return std::make_shared<const FewStepTree>(
            find_few_step_tree(*ways_of(torus, reversed), 0));
    });
    for (FewStepMessage& m : tree.messages) {
        m.from = torus.translated(m.from, root, +1);
        m.to = torus.translated(m.to, root, +1);
    }
    std::sort(tree.messages.begin(), tree.messages.end(), [](const auto& a, const auto& b) {
        return std::pair(a.step, a.to) < std::pair(b.step, b.to);
    });
    return tree;
}

/// No tree up and down from the rank is cheaper: ranks grow by all ports at most, and the farthest
/// is reached.
int least_there_and_back(const WayTable& ways, Rank middle) {
    int least = std::numeric_limits<int>::max();
    for (int per_port = 1; per_port <= most_per_port; ++per_port) {
        int steps = 0;
        for (std::int64_t reached = 1; reached < ways.ranks(); ++steps) {
            reached *= ways.ports() * per_port + 1;
        }
        least = std::min(least, price(2 * steps, per_port, 2 * ways.eccentricity(middle), 0));
    }
    return least;
}

/// What costs an allreduce less than the exchange: a tree up and down from a rank in the middle.
std::optional<FewStepTree> cheaper_tree(const Torus& torus) {
    const std::shared_ptr<const WayTable> ways = ways_of(torus, false);
    Rank middle = 0;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        middle = ways->eccentricity(r) < ways->eccentricity(middle) ? r : middle;
    }
    const auto exchange = exchange_of(torus, Collective::allreduce);
    const int most = *exchange
                         ? price(static_cast<int>(std::ssize((*exchange)->steps)),
                                 (*exchange)->per_port, (*exchange)->hops, (*exchange)->stored)
                         : std::numeric_limits<int>::max();
    if (most <= least_there_and_back(*ways, middle)) {
        return std::nullopt;
    }
    FewStepTree tree = find_few_step_tree(*ways, middle, 2);
    return price(2 * tree.steps, tree.per_port, 2 * tree.hops, 0) < most
               ? std::optional(std::move(tree))
               : std::nullopt;
}

std::shared_ptr<const std::optional<FewStepTree>> sum_tree_of(const Torus& torus) {
    static auto& kept = *new Kept<std::string, std::optional<FewStepTree>>(most_kept);
    return kept.get(torus.name(), [&] {
        return std::make_shared<const std::optional<FewStepTree>>(cheaper_tree(torus));
    });
}

Schedules found(Collective collective, const Torus& torus, Rank root) {
    switch (collective) {
        case Collective::allreduce:
            if (const auto tree = sum_tree_of(torus); *tree) {
                return tree_schedules(**tree, torus.ranks(), TreeUse::both);
            }
            break;
        case Collective::bcast:
            return tree_schedules(tree_from(torus, root, false), torus.ranks(), TreeUse::down);
        case Collective::reduce:
            return tree_schedules(tree_from(torus, root, true), torus.ranks(), TreeUse::up);
        default:
            break;
    }
    return exchange_schedules(**exchange_of(torus, collective), torus.ranks(), collective);
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

std::string few_step_exchange_refusal(Collective collective, const Torus& torus) {
    std::string reason = few_step_refusal(torus);
    if (reason.empty() && !*exchange_of(torus, collective)) {
        reason =
            "it needs a number of places with small prime factors and finds no way to exchange "
            "blocks on " +
            torus.name() + " within its bounds of ports and work";
    }
    return reason;
}

double few_step_landing(const Torus& torus, const BuildOptions&) {
    return *sum_tree_of(torus) ? 1
                               : static_cast<double>(std::ssize(
                                     (*exchange_of(torus, Collective::allreduce))->steps));
}

Schedule build_few_steps(Collective collective, const Torus& torus, Rank rank,
                         const BuildOptions& options) {
    using Key = std::tuple<std::string, Collective, Rank>;
    static auto& kept = *new Kept<Key, Schedules>(64);  // roots change
    const Rank root = traits_of(collective).rooted() ? options.root : 0;
    return (*kept.get({torus.name(), collective, root}, [&] {
        return std::make_shared<const Schedules>(found(collective, torus, root));
    }))[to_index(rank)];
}

}  // namespace trefoil
