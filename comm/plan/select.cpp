// SPDX-License-Identifier: BSD-3-Clause
// Selection by the cost model.
#include "comm/plan/select.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/registry/registry.hpp"
#include "comm/plan/candidates.hpp"
#include "comm/plan/segments.hpp"
#include "comm/plan/vector_map.hpp"
#include "threads/executor/executor.hpp"
#include "threads/executor/notification.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// What each contribution that a rank stores and reduces itself costs, as a share of a step.
constexpr double contribution_overhead = 0.05;
/// What each further message through one port in one step costs its ranks, as a share of a step.
constexpr double message_overhead = 0.5;
/// How long links wait for messages that are late, as a share of what they carry, where all ranks
/// send step by step and each port has one message in a step; where it has several, others go
/// meanwhile (docs/cost-model.md).
constexpr double idle_share = 0.04;
/// Where schedules are not priced: up to here steps dominate, beyond it bytes do (swing's setting).
constexpr std::size_t unpriced_latency_bytes = 32768;
/// Each piece of a segment is a message with an index of its own.
constexpr Block most_pieces_of_segment = std::bit_floor(Notification::index_limit);

static_assert(segments_at_once == segment_window);

/// Of one segment, in bytes of the vector.
double longest_segment(const Choice& choice, const Torus& torus, const SelectionBasis& basis) {
    const auto asked = static_cast<double>(std::max<std::size_t>(1, basis.segment_bytes));
    const double vectors = choice.algorithm->landing(torus, {.by_node = choice.options.by_node});
    return vectors > 0 ? std::min(asked, static_cast<double>(basis.slot_bytes) / vectors) : asked;
}

/// How many of them a vector of so many bytes is.
Block segments_of(const Torus& torus, const Choice& choice, std::size_t bytes,
                  const SelectionBasis& basis) {
    const double segments =
        std::ceil(static_cast<double>(bytes) / longest_segment(choice, torus, basis));
    return static_cast<Block>(std::clamp<double>(segments, 1, most_pieces));
}

/// `cost` is an AutoCandidate's.
CostSummary whole_cost(const Torus& torus, const Choice& choice, const CostSummary& cost,
                       std::size_t bytes, const SelectionBasis& basis) {
    if (choice.options.pieces == 0) {
        return cost;
    }
    const Block segments = segments_of(torus, choice, bytes, basis);
    const Block most = std::max<Block>(1, most_pieces / segments);
    return with_pieces(
        cost, {std::min(choice.options.pieces, most), segments, choice.algorithm->returns()});
}

/// A pipeline that has not at least twice as many pieces as steps to fill it is for larger vectors:
/// a scatter and an allgather, which send everything twice in few steps, are about as fast there.
bool fills_in_time(const AutoCandidate& candidate, const Torus& torus, std::size_t bytes,
                   const CostModel& model) {
    const Algorithm& algorithm = *candidate.algorithm;
    if (algorithm.best_pieces == nullptr) {
        return true;
    }
    const Schedule one_piece = algorithm.build(torus, 0, candidate.options);
    return algorithm.pieces(torus, candidate.options, model, static_cast<double>(bytes)) >=
           2 * one_piece.parts.front().steps.count;
}
/// The share of the parts that a vector of so many bytes has data for (vector_map.hpp). A part
/// without data sends nothing.
double share_with_data(const Torus& torus, Collective collective, int parts, std::size_t bytes) {
    const std::uint32_t blocks = traits_of(collective).blocks(torus);
    const std::size_t units = blocks > 0 ? divided_up(bytes, blocks * block_unit_bytes)
                                         : divided_up(bytes, part_unit_bytes);
    const auto all = static_cast<double>(std::max(1, parts));
    return std::min(1.0, static_cast<double>(std::max<std::size_t>(1, units)) / all);
}

/// What a rank reduces, which tells allreduces apart: all that it is sent, or half of that where an
/// allgather follows a reduce-scatter; and whole vectors of all ranks where those are stored first.
double reductions(const Torus& torus, const Choice& choice, const CostSummary& cost,
                  double vector_bytes, const CostModel& model) {
    const Algorithm& algorithm = *choice.algorithm;
    const bool whole_vectors = algorithm.collective == Collective::allreduce;
    const bool half = algorithm.traits.cost_class != CostClass::latency;
    double seconds = whole_vectors ? cost.sent * vector_bytes * model.reduce * (half ? 0.5 : 1) : 0;
    if (algorithm.selection.gathers_contributions) {
        seconds +=
            (ranks_between(torus, choice.options) - 1) *
            (model.alpha * contribution_overhead + (whole_vectors ? vector_bytes * model.copy : 0));
    }
    if (algorithm.selection.stores_sums) {
        seconds += cost.sent * (model.alpha * contribution_overhead + vector_bytes * model.copy);
    }
    return seconds;
}

bool is_meant_for(Unpriced unpriced, bool small) {
    return unpriced == Unpriced::all || unpriced == (small ? Unpriced::small : Unpriced::large);
}

/// For what is too large to price: what the registry names for this case, else a plain rule by
/// class; by node where there are nodes.
const AutoCandidate* unpriced(const std::vector<AutoCandidate>& all, const Torus& torus,
                              std::size_t bytes, const Needs& needs, const CostModel& model) {
    const bool small = bytes <= unpriced_latency_bytes;
    const auto is_best_of_kind = [&](const AutoCandidate& c) {
        return c.options.by_node || torus.per_node() == 1 || !c.algorithm->abilities.by_node;
    };
    for (const AutoCandidate& c : all) {
        if (serves(c, needs) && is_best_of_kind(c) &&
            is_meant_for(c.algorithm->selection.unpriced, small)) {
            return &c;
        }
    }
    const AutoCandidate* fallback = nullptr;
    for (const AutoCandidate& c : all) {
        if (!serves(c, needs)) {
            continue;
        }
        const bool suits = (c.algorithm->traits.cost_class == CostClass::latency) == small;
        if (suits && is_best_of_kind(c) && fills_in_time(c, torus, bytes, model)) {
            return &c;
        }
        fallback = fallback == nullptr ? &c : fallback;
    }
    return fallback;
}

/// Prices decide where some are known, and for short vectors that of what such vectors take.
bool goes_by_price(const std::vector<AutoCandidate>& all, std::size_t bytes, const Needs& needs) {
    bool some = false;
    for (const AutoCandidate& c : all) {
        const bool needed =
            bytes <= unpriced_latency_bytes && c.algorithm->selection.unpriced == Unpriced::small;
        if (serves(c, needs) && needed && !c.priced) {
            return false;
        }
        some |= serves(c, needs) && c.priced;
    }
    return some;
}
/// A candidate for one call, and what is known of its price. Of equal prices that counts as less
/// which comes first in the table.
struct Contestant {
    enum class Known : std::uint8_t { formula, least, all };
    AutoCandidate* candidate;
    Choice choice;
    Known known;
    double seconds;  ///< a bound from below until all is known
};

/// Finds more about whoever seems cheapest until that one's price is known: all others cost more.
/// What is found depends on nothing but the call. The first one is the cheapest then.
template <typename Price>
void find_cheapest(AutoCandidates& candidates, std::vector<Contestant>& contestants,
                   Price&& price) {
    using Known = Contestant::Known;
    const auto cheapest = [&] {
        return std::ranges::min_element(contestants, {}, &Contestant::seconds);
    };
    for (auto c = cheapest(); c != contestants.end() && c->known != Known::all; c = cheapest()) {
        const bool bounded = c->known == Known::least || candidates.needs_no_bound(*c->candidate);
        c->known = bounded ? Known::all : Known::least;
        c->seconds = price(
            c->choice, bounded ? candidates.cost(*c->candidate) : candidates.least(*c->candidate));
    }
    std::ranges::stable_sort(contestants, {}, &Contestant::seconds);
}

/// What is excluded whatever the size.
void add_excluded(std::vector<Considered>& list, Collective collective, const Torus& torus,
                  const Needs& needs) {
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective != collective) {
            continue;
        }
        for (const BuildOptions& options : options_of(algorithm, torus)) {
            std::string reason = exclusion(algorithm, torus, options, needs);
            if (!reason.empty()) {
                list.push_back({{&algorithm, {.by_node = options.by_node}}, std::move(reason)});
            }
        }
    }
}

}  // namespace

SelectionBasis selection_basis(const Settings& settings) {
    return {settings.segment_bytes, settings.landing_bytes / LandingRings::few_slots,
            settings.cost_model.value_or(default_cost_model)};
}

Block pieces_for(const Choice& choice, const Torus& torus, std::size_t bytes,
                 const SelectionBasis& basis) {
    if (choice.algorithm->best_pieces == nullptr) {
        return 0;
    }
    return std::min(
        most_pieces_of_segment,
        choice.algorithm->pieces(torus, choice.options, basis.model, static_cast<double>(bytes),
                                 segments_of(torus, choice, bytes, basis)));
}

Price price_of(const Torus& torus, const Choice& choice, const CostSummary& whole,
               std::size_t bytes, const CostModel& model) {
    const int more_messages =
        std::max(0, whole.max_sends_per_port_per_step - 1) + whole.steps_at_once;
    const auto vector_bytes = static_cast<double>(bytes);
    CostTerms terms = model.terms(whole, vector_bytes);
    terms.messages *= share_with_data(torus, choice.algorithm->collective, whole.parts, bytes);
    const bool waits_idly =
        !whole.at_least && !whole.steady && !traits_of(choice.algorithm->collective).rooted();
    // They start up while the links carry those before them.
    const double hidden = terms.links / std::max(1, whole.steps - whole.steps_at_once);
    return {.terms = terms,
            .further_messages =
                std::max(0.0, model.alpha * (message_overhead * more_messages) - hidden),
            .reductions = reductions(torus, choice, whole, vector_bytes, model),
            .idle = waits_idly ? idle_share * terms.links / (1 + more_messages) : 0};
}

Considered modelled(const Torus& torus, const Choice& choice, std::size_t bytes,
                    const SelectionBasis& basis) {
    BuildOptions options = choice.options;
    options.pieces = std::min<Block>(1, options.pieces);
    const CostSummary cost = whole_cost(
        torus, choice, ModelSummaries(torus).of(*choice.algorithm, options), bytes, basis);
    return {choice, "", price_of(torus, choice, cost, bytes, basis.model), cost};
}

AlgorithmChoice choose_algorithm(Collective collective, const Torus& torus, std::size_t bytes,
                                 const Needs& asked, const SelectionBasis& basis,
                                 std::vector<Considered>* considered) {
    const bool reduces = traits_of(collective).reduces;
    const bool ordered = asked.rank_order && reduces;
    const Needs needs{ordered, asked.vector_variant, asked.any_order && reduces && !ordered};
    const bool for_people = considered != nullptr && torus.ranks() <= largest_priced;
    const bool links_only = basis.model.counts_links_only() && !for_people;
    AutoCandidates& known =
        auto_candidates(collective, torus, needs,
                        links_only ? ModelSummaries::Figures::links : ModelSummaries::Figures::all);
    const std::lock_guard lock(known.mutex);
    std::vector<AutoCandidate>& all = known.all();
    const bool by_price = goes_by_price(all, bytes, needs);
    const AutoCandidate* const by_rule =
        by_price ? nullptr : unpriced(all, torus, bytes, needs, basis.model);
    const auto with_its_pieces = [&](const AutoCandidate& candidate) {
        Choice choice{candidate.algorithm, {.by_node = candidate.options.by_node}};
        choice.options.pieces = pieces_for(choice, torus, bytes, basis);
        return choice;
    };
    const auto whole = [&](const Choice& choice, const CostSummary& one) {
        return whole_cost(torus, choice, one, bytes, basis);
    };
    const auto seconds = [&](const Choice& choice, const CostSummary& one) {
        return price_of(torus, choice, whole(choice, one), bytes, basis.model).sum();
    };
    const Torus nodes = torus.nodes();
    std::vector<Contestant> contestants;
    for (AutoCandidate& c : all) {
        std::string reason =
            &c == by_rule ? "" : sits_out(c, torus, bytes, needs, basis.model, by_price);
        if (!reason.empty() || !by_price) {
            if (considered != nullptr) {
                considered->push_back(
                    {{c.algorithm, {.by_node = c.options.by_node}}, std::move(reason)});
            }
            continue;
        }
        const Choice choice = with_its_pieces(c);
        contestants.push_back(
            {&c, choice, Contestant::Known::formula,
             seconds(choice, least_by_formula(*c.algorithm, c.options.by_node ? nodes : torus))});
        if (considered != nullptr) {
            const CostSummary cost = whole(choice, known.cost(c));
            const Price price = price_of(torus, choice, cost, bytes, basis.model);
            contestants.back().known = Contestant::Known::all;
            contestants.back().seconds = price.sum();
            considered->push_back({choice, "", price, cost});
        }
    }
    find_cheapest(known, contestants, seconds);
    if (considered != nullptr) {
        add_excluded(*considered, collective, torus, needs);
    }
    AlgorithmChoice result;
    if (by_rule != nullptr) {
        result.choice = with_its_pieces(*by_rule);
    } else if (!contestants.empty()) {
        result.choice = contestants[0].choice;
        result.seconds = contestants[0].seconds;
        if (contestants.size() > 1) {
            result.next = contestants[1].choice;
            result.next_seconds = contestants[1].seconds;
            result.next_at_least = contestants[1].known != Contestant::Known::all;
        }
    }
    if (result.choice.algorithm == nullptr) {
        throw Error(Status::unsupported,
                    "no " + std::string(to_string(collective)) + " algorithm supports torus " +
                        torus.name() +
                        (ordered                ? " and reduces in rank order"
                         : needs.vector_variant ? " and takes blocks of any sizes"
                                                : ""));
    }
    return result;
}

}  // namespace trefoil
