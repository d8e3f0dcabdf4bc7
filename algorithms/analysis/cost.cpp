// SPDX-License-Identifier: BSD-3-Clause
// Cost summaries from the schedules of all ranks or of as few as tell of all; the model.
#include "algorithms/analysis/cost.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "algorithms/analysis/by_node_summary.hpp"
#include "algorithms/analysis/link_summary.hpp"
#include "algorithms/analysis/product_summary.hpp"
#include "algorithms/analysis/summary.hpp"

namespace trefoil {

namespace {

/// Somebody who is in a step of a part by node is so inside a node or between nodes.
bool is_inside(const Torus& torus, const Schedule& schedule, const Step& step) {
    const auto inside = [&](const auto& message) {
        return torus.is_host(message.port.dimension());
    };
    return std::ranges::any_of(schedule.sends_of(step), inside) ||
           std::ranges::any_of(schedule.receives_of(step), inside);
}

/// What a rank sends to other nodes and receives from them, without the order in which messages are
/// taken in. By node, steps inside nodes stand before and after.
Schedule in_one_step(const Torus& torus, Schedule schedule, const BuildOptions& options) {
    for (Part& part : schedule.parts) {
        Step* const steps = schedule.steps.data() + part.steps.first;
        std::uint32_t kept = 0;
        bool all_follows = false;
        for (std::uint32_t s = 0; s < part.steps.count; ++s) {
            const Step step = steps[s];
            if (options.by_node && is_inside(torus, schedule, step)) {
                steps[kept++] = step;
                all_follows = false;
                continue;
            }
            if (!all_follows) {
                steps[kept++] = step;
                all_follows = true;
                continue;
            }
            Step& all = steps[kept - 1];  // their messages stand one after the other
            all.sends.first = all.sends.count == 0 ? step.sends.first : all.sends.first;
            all.sends.count += step.sends.count;
            all.receives.first = all.receives.count == 0 ? step.receives.first : all.receives.first;
            all.receives.count += step.receives.count;
        }
        part.steps.count = kept;
    }
    return schedule;
}

/// `together`: of the same messages in one step.
void take_at_once(CostSummary& cost, const CostSummary& together) {
    cost.steps_at_once = cost.steps - together.steps;
    cost.hops_at_once = cost.sum_hops - together.sum_hops;
    cost.load_at_once = cost.sum_link_load - together.sum_link_load;
    cost.steady = true;
}

CostSummary summarize(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
                      bool steered, const Symmetry& symmetry, const Symmetry& of_nodes) {
    Summary summary(torus, algorithm.collective, steered, symmetry, of_nodes);
    for (Rank one = 0; one < symmetry.classes(); ++one) {
        summary.add(algorithm.build(torus, symmetry.representative(one), options));
    }
    CostSummary cost = summary.finish();
    if (algorithm.sends_at_once) {
        Summary together(torus, algorithm.collective, steered, symmetry, of_nodes);
        for (Rank one = 0; one < symmetry.classes(); ++one) {
            together.add(in_one_step(
                torus, algorithm.build(torus, symmetry.representative(one), options), options));
        }
        take_at_once(cost, together.finish());
    }
    return cost;
}

/// Translations under which the schedules with these options are known to be alike. On nodes of
/// several ranks only those that carry a node's ranks to another node's in their order.
std::vector<Rank> alike_ranks(const Torus& torus, const Algorithm& algorithm,
                              const BuildOptions& options) {
    std::vector<Rank> ranks = algorithm.alike_ranks(torus, options);
    std::erase_if(ranks, [&](Rank t) { return t % torus.per_node() != 0; });
    return ranks;
}

/// Of how many ranks each axis tells, by dimension: those after them are carried over from them.
std::vector<Rank> periods(const Torus& torus, const Symmetry& symmetry) {
    return symmetry.periods().empty() ? torus.sizes() : symmetry.periods();
}

/// From the ranks on the axes through rank 0.
CostSummary summarize_axes(const Torus& torus, const Algorithm& algorithm,
                           const BuildOptions& options, const Symmetry& symmetry) {
    const Symmetry none(torus);
    Summary all(torus, algorithm.collective, true, none, none);
    const std::vector<Rank> of_axes = periods(torus, symmetry);
    for (int j = 0; j < torus.dimensions(); ++j) {
        const Torus ring({torus.size(j)}, {torus.is_line(j)});
        const Rank period = of_axes[j];
        const Rank generator = period % torus.size(j);
        const Symmetry of_ring(ring, {&generator, 1});
        Summary line(ring, algorithm.collective, true, of_ring, of_ring);
        for (Rank at = 0; at < period; ++at) {
            const Rank rank = torus.with_coordinate(0, j, at);
            line.add(along(torus, j, algorithm.build(torus, rank, options)));
        }
        all.add_line(std::move(line));
    }
    return all.finish();
}

/// As the choice asks for it, but by node.
bool is_plain(const Algorithm& algorithm, const BuildOptions& options) {
    return options == BuildOptions{.pieces = algorithm.abilities.pieces ? 1U : 0U};
}

/// The same where each rank is a node, or where links are told of nodes, too.
bool tells_links(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    return is_plain(algorithm, options) && (torus.per_node() == 1 || algorithm.links_of_nodes);
}

Witnesses witnesses(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    return algorithm.witnesses != nullptr && torus.fabric() == nullptr &&
                   tells_links(torus, algorithm, options)
               ? algorithm.witnesses(torus)
               : Witnesses::alike;
}

/// So many ranks' schedules take longer than flows.
constexpr std::int64_t most_schedules = 4;

/// From rank 0 alone. `steps`: how many there are, where more than it takes part in; 0: as many.
CostSummary summarize_root(const Torus& torus, const Algorithm& algorithm,
                           const BuildOptions& options, int steps) {
    const Symmetry of_ranks(torus);
    const Torus nodes = torus.nodes();
    const Symmetry of_nodes(nodes);
    Summary summary(torus, algorithm.collective, true, of_ranks, of_nodes);
    const Schedule schedule = algorithm.build(torus, 0, options);
    summary.add(schedule);
    summary.add_received(schedule);
    if (steps > 0) {
        summary.go_on(steps);
    }
    CostSummary cost = summary.finish();
    if (algorithm.sends_at_once) {
        Summary together(torus, algorithm.collective, true, of_ranks, of_nodes);
        const Schedule all = in_one_step(torus, schedule, options);
        together.add(all);
        together.add_received(all);
        take_at_once(cost, together.finish());
    }
    return cost;
}

/// Which blocks a message carries does not matter to its price.
BuildOptions to_be_priced(BuildOptions options) {
    options.sizes_only = !options.by_node;
    return options;
}

Symmetry symmetry_of(const Torus& torus, std::span<const Rank> translations) {
    return translations.empty() ? Symmetry(torus) : Symmetry(torus, translations);
}

/// Whoever has told it.
CostSummary of_algorithm(const Algorithm& algorithm, CostSummary cost) {
    cost.steady |= algorithm.collective == Collective::alltoall;
    return cost;
}

/// What must cross the links of one rank, or those of a mean one, if all carried alike: each rank
/// gets what others have, or gives it away; in an allreduce both.
double least_load_of(const Algorithm& algorithm, const Torus& torus) {
    const CollectiveTraits& row = traits_of(algorithm.collective);
    const auto links = 2 * std::ranges::count_if(torus.sizes(), [](Rank n) { return n > 1; });
    if (links == 0 || !row.has_data() || row.is_prefix() || row.blocks_both_ways()) {
        return 0;
    }
    const std::int64_t ranks = torus.ranks();
    return static_cast<double>((row.replicates_results() ? 2 : 1) * (ranks - 1)) /
           static_cast<double>(ranks * links);
}

}  // namespace

CostSummary summarize(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    const Torus nodes = torus.nodes();
    return summarize(torus, algorithm, options, algorithm.traits.steered, Symmetry(torus),
                     Symmetry(nodes));
}

CostSummary least_by_formula(const Algorithm& algorithm, const Torus& torus) {
    CostSummary least;
    least.at_least = true;
    const bool exchanges = algorithm.collective == Collective::alltoall;
    if (algorithm.traits.reads_peers || torus.fabric() != nullptr) {
        return least;
    }
    const Torus nodes = torus.nodes();
    least.sum_link_load = least_load_of(algorithm, nodes);
    if (exchanges) {
        for (const Rank size : nodes.sizes()) {  // n^2/4 hops of a coordinate's pairs on 2n links
            const auto n = static_cast<std::int64_t>(size);
            least.sum_hops += n / 2;
            least.sum_link_load =
                std::max(least.sum_link_load, static_cast<double>(torus.per_node() * (n * n / 4)) /
                                                  static_cast<double>(2 * n));
        }
    }
    if (torus.per_node() > 1 && !exchanges) {
        return least;
    }
    // As many steps as a node has other ranks may go by inside it.
    const int steps = algorithm.least_steps == nullptr ? 0 : algorithm.least_steps(torus);
    least.steps = std::max(0, steps - (torus.per_node() - 1));
    if (algorithm.least_load != nullptr) {
        least.sum_link_load = std::max(least.sum_link_load, algorithm.least_load(torus));
    }
    least.sum_hops = std::max<long>(least.sum_hops, least.steps);
    if (algorithm.least_hops != nullptr && torus.per_node() == 1) {
        least.sum_hops = std::max<long>(least.sum_hops, algorithm.least_hops(torus));
    }
    if (algorithm.sends_at_once && least.steps > 0) {
        least.steps_at_once = least.steps - 1;
        least.hops_at_once = least.steps_at_once;
    }
    return least;
}

const Symmetry& ModelSummaries::find(std::list<Alike>& all, const Torus& of,
                                     const std::vector<Rank>& translations) {
    const auto found = std::ranges::find(all, translations, &Alike::translations);
    if (found != all.end()) {
        return found->symmetry;
    }
    Symmetry symmetry = symmetry_of(of, translations);
    all.push_back({translations, std::move(symmetry)});
    return all.back().symmetry;
}

ModelSummaries* ModelSummaries::between_nodes(const BuildOptions& options) {
    if (figures_ == Figures::all ||
        options != BuildOptions{.pieces = options.pieces, .by_node = true}) {
        return nullptr;
    }
    if (between_nodes_ == nullptr) {
        between_nodes_ = std::make_unique<ModelSummaries>(nodes_, figures_);
    }
    return between_nodes_.get();
}

CostSummary ModelSummaries::of(const Algorithm& algorithm, const BuildOptions& options) {
    return of_algorithm(algorithm, summed(algorithm, options));
}

CostSummary ModelSummaries::least(const Algorithm& algorithm, const BuildOptions& options) {
    return of_algorithm(algorithm, bound(algorithm, options));
}

CostSummary ModelSummaries::summed(const Algorithm& algorithm, const BuildOptions& options) {
    if (ModelSummaries* const between = between_nodes(options)) {
        return summarize_by_node(torus_, traits_of(algorithm.collective),
                                 between->of(algorithm, {.pieces = options.pieces}));
    }
    const Witnesses told = witnesses_of(algorithm, options);
    if (told == Witnesses::root_of_links) {
        const auto steps = algorithm.least_steps;
        CostSummary cost = summarize_root(torus_, algorithm, to_be_priced(options),
                                          steps == nullptr ? 0 : steps(torus_));
        cost.links_only = true;
        return cost;
    }
    if (told == Witnesses::formula) {
        return summarize_links(torus_, algorithm.link_steps(torus_), torus_.ranks());
    }
    if (told == Witnesses::flows) {
        return summarize_product(torus_, algorithm.flows(torus_));
    }
    std::vector<Rank> translations = alike_ranks(torus_, algorithm, options);
    const Symmetry& symmetry = find(of_ranks_, torus_, translations);
    if (told == Witnesses::axes) {
        return summarize_axes(torus_, algorithm, to_be_priced(options), symmetry);
    }
    if (torus_.per_node() == 1) {
        return summarize(torus_, algorithm, to_be_priced(options), true, symmetry, symmetry);
    }
    for (Rank& translation : translations) {
        translation = torus_.node_of(translation);
    }
    return summarize(torus_, algorithm, to_be_priced(options), true, symmetry,
                     find(of_nodes_, nodes_, translations));
}

Witnesses ModelSummaries::witnesses_of(const Algorithm& algorithm,
                                       const BuildOptions& options) const {
    const Witnesses told = witnesses(torus_, algorithm, options);
    if (figures_ == Figures::all) {
        return told == Witnesses::axes ? told : Witnesses::alike;
    }
    const bool by_schedules = told == Witnesses::alike || told == Witnesses::axes;
    const bool has_flows =
        algorithm.flows != nullptr && torus_.fabric() == nullptr && is_plain(algorithm, options);
    return by_schedules && has_flows &&
                   (torus_.per_node() > 1 ||
                    schedules_by(told, algorithm, options) > most_schedules)
               ? Witnesses::flows
               : told;
}

CostSummary ModelSummaries::bound(const Algorithm& algorithm, const BuildOptions& options) {
    if (ModelSummaries* const between = between_nodes(options)) {
        return summarize_by_node(torus_, traits_of(algorithm.collective),
                                 between->least(algorithm, {.pieces = options.pieces}));
    }
    if (figures_ == Figures::links && algorithm.link_steps != nullptr &&
        tells_links(torus_, algorithm, options) && torus_.is_whole()) {
        return summarize_links(torus_, algorithm.link_steps(torus_), torus_.ranks());
    }
    if (torus_.fabric() != nullptr) {
        return summed(algorithm, options);  // the formulas are of whole tori
    }
    CostSummary cost = summarize_root(torus_, algorithm, to_be_priced(options), 0);
    cost.at_least = true;
    cost.inside_beside_links += std::exchange(cost.inside_alone, 0);  // where others use links
    if (is_plain(algorithm, options) && !algorithm.sends_at_once) {
        const CostSummary least = least_by_formula(algorithm, torus_);
        // Steps in which others send to other nodes may be inside the node for rank 0.
        const int more = std::max(0, least.steps - cost.steps);
        cost.steps += more;
        cost.steps_inside = std::max(0, cost.steps_inside - more);
        cost.sum_hops = std::max(cost.sum_hops, least.sum_hops);
        cost.sum_link_load = std::max(cost.sum_link_load, least.sum_link_load);
    }
    return cost;
}

std::int64_t ModelSummaries::schedules(const Algorithm& algorithm, const BuildOptions& options) {
    if (ModelSummaries* const between = between_nodes(options)) {
        return between->schedules(algorithm, {.pieces = options.pieces});
    }
    const Witnesses told = witnesses_of(algorithm, options);
    if (told == Witnesses::root_of_links || told == Witnesses::formula) {
        return 1;
    }
    if (told == Witnesses::flows) {
        const auto& sizes = torus_.sizes();
        return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    }
    return schedules_by(told, algorithm, options);
}

bool ModelSummaries::needs_no_bound(const Algorithm& algorithm, const BuildOptions& options) {
    if (ModelSummaries* const between = between_nodes(options)) {
        return between->needs_no_bound(algorithm, {.pieces = options.pieces});
    }
    constexpr std::int64_t short_rings = 256;
    return schedules(algorithm, options) <=
           (witnesses_of(algorithm, options) == Witnesses::flows ? short_rings : 1);
}

std::int64_t ModelSummaries::schedules_by(Witnesses told, const Algorithm& algorithm,
                                          const BuildOptions& options) const {
    const std::vector<Rank> translations = alike_ranks(torus_, algorithm, options);
    if (told == Witnesses::alike) {
        return Symmetry::classes_by(torus_, translations);
    }
    const std::vector<Rank> of_axes = periods(torus_, symmetry_of(torus_, translations));
    return std::accumulate(of_axes.begin(), of_axes.end(), std::int64_t{0});
}

double CostModel::inside(const CostSummary& cost, double vector_bytes) const {
    if (!counts_links_only()) {
        return cost.inside * vector_bytes * inside_byte;
    }
    const double beside = cost.inside_beside_links * vector_bytes * inside_byte;
    const double hidden = (cost.steps - cost.steps_at_once) * alpha +
                          static_cast<double>(cost.sum_hops - cost.hops_at_once) * tau +
                          (cost.sum_link_load - cost.load_at_once) * vector_bytes * beta;
    return cost.inside_alone * vector_bytes * inside_byte +
           std::max(0.0, beside - (cost.steady ? hidden : 0));
}

CostTerms CostModel::terms(const CostSummary& cost, double vector_bytes) const {
    return {.steps = (cost.steps - cost.steps_at_once) * alpha,
            .hops = static_cast<double>(cost.sum_hops - cost.hops_at_once) * tau,
            .links = (cost.sum_link_load - cost.load_at_once) * vector_bytes * beta,
            .waits = cost.waits * wait,
            .messages = cost.messages * message + cost.forwards * forward +
                        cost.messages_per_rank * busiest,
            .bytes = cost.sent * vector_bytes * byte,
            .copies = cost.packed * vector_bytes * copy,
            .pulls = cost.pulled * vector_bytes * pull,
            .inside = cost.steps_inside * inside_step + cost.messages_inside * inside_message +
                      inside(cost, vector_bytes)};
}

}  // namespace trefoil
