// SPDX-License-Identifier: BSD-3-Clause
// Selection by the cost model.
#include "comm/plan/select.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/registry/registry.hpp"
#include "threads/executor/executor.hpp"
#include "threads/executor/notification.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// On larger tori an algorithm is priced where so few ranks' schedules tell of all (that of a small
/// vector's first choice, with its few steps, where some more do).
constexpr Rank largest_priced = 1024;
constexpr Rank most_classes = 64;
constexpr Rank most_classes_for_small = 1024;
constexpr Rank largest_priced_in_order = 128;
/// Of alltoall, whose schedules have p messages; and where all of them are summed.
constexpr Rank largest_priced_alltoall = 4096;
constexpr Rank largest_summed_alltoall = 256;
/// Algorithms that gather contributions are for vectors whose contributions together are at most
/// this, and each costs a share of a step.
constexpr std::size_t most_gathered_bytes = 16384;
constexpr double contribution_overhead = 0.05;
/// What each further message through one port in one step costs its ranks, as a share of a step.
constexpr double message_overhead = 0.5;
/// Where schedules are not priced: up to here steps dominate, beyond it bytes do (swing's setting).
constexpr std::size_t unpriced_latency_bytes = 32768;
/// Each piece of a segment is a message with an index of its own.
constexpr Block most_pieces_of_segment = std::bit_floor(Notification::index_limit);

bool is_priced(const Algorithm& algorithm, const Torus& torus, bool in_rank_order) {
    const bool exchanges = algorithm.collective == Collective::alltoall;
    const Rank all = in_rank_order ? largest_priced_in_order
                     : exchanges   ? largest_summed_alltoall
                                   : largest_priced;
    if (torus.ranks() <= all) {
        return true;
    }
    if (in_rank_order || (exchanges && torus.ranks() > largest_priced_alltoall)) {
        return false;
    }
    return schedules_to_summarize(torus, algorithm) <=
           (algorithm.selection.unpriced == Unpriced::small ? most_classes_for_small
                                                            : most_classes);
}

struct Candidate {
    const Algorithm* algorithm;
    bool priced;
    CostSummary cost;  ///< if it is; of pipelined algorithms: with one piece
};

/// What sends every block straight to its reducer is there for the order of the ranks only: pricing
/// its p^2 messages costs more than it ever saves. On large tori that is so for any `direct`.
bool suits_order(const Algorithm& algorithm, bool in_rank_order) {
    const Traits& traits = algorithm.traits;
    if (in_rank_order || traits_of(algorithm.collective).is_prefix()) {
        return traits.order_preserving || !in_rank_order;
    }
    return !traits.order_preserving || traits.cost_class == CostClass::latency;
}

bool is_candidate(const Algorithm& algorithm, Collective collective, const Torus& torus,
                  bool any_order) {
    return algorithm.collective == collective &&
           (algorithm.traits.identical_results || any_order) && !algorithm.traits.reads_peers &&
           torus.ranks() <= algorithm.selection.most_ranks && algorithm.refusal(torus).empty();
}

bool gathers_too_much(const Algorithm& algorithm, const Torus& torus, std::size_t bytes) {
    return algorithm.selection.gathers_contributions &&
           bytes > most_gathered_bytes / static_cast<std::size_t>(torus.ranks());
}

/// The root does not matter: a torus looks alike from every rank.
const std::vector<Candidate>& candidates(Collective collective, const Torus& torus,
                                         bool in_rank_order, bool any_order) {
    static std::mutex mutex;
    static std::map<std::tuple<Collective, std::string, bool, bool>, std::vector<Candidate>> cache;
    const std::lock_guard lock(mutex);
    std::vector<Candidate>& found = cache[{collective, torus.name(), in_rank_order, any_order}];
    if (found.empty()) {
        for (const Algorithm& algorithm : algorithms()) {
            if (is_candidate(algorithm, collective, torus, any_order) &&
                suits_order(algorithm, in_rank_order)) {
                const bool priced = is_priced(algorithm, torus, in_rank_order);
                const BuildOptions options{.pieces = algorithm.abilities.pieces ? 1U : 0U};
                found.push_back(
                    {&algorithm, priced,
                     priced ? summarize_for_model(torus, algorithm, options) : CostSummary{}});
            }
        }
    }
    return found;
}

/// Of one segment, in bytes of the vector.
double longest_segment(const Algorithm& algorithm, const Torus& torus,
                       const SelectionBasis& basis) {
    const auto asked = static_cast<double>(std::max<std::size_t>(1, basis.segment_bytes));
    const double vectors = algorithm.landing(torus, {});
    return vectors > 0 ? std::min(asked, static_cast<double>(basis.slot_bytes) / vectors) : asked;
}

/// Segments overlap, so that the pieces of all of them are one pipeline. `cost` is a Candidate's.
double expected_time(const Torus& torus, const Choice& choice, const CostSummary& cost,
                     std::size_t bytes, const SelectionBasis& basis) {
    const auto length = static_cast<double>(bytes);
    const int more_messages = std::max(0, cost.max_sends_per_port_per_step - 1);
    const int contributions =
        choice.algorithm->selection.gathers_contributions ? torus.ranks() - 1 : 0;
    const double overhead = basis.model.alpha * (message_overhead * more_messages +
                                                 contribution_overhead * contributions);
    if (choice.options.pieces == 0) {
        return basis.model.time(cost, length) + overhead;
    }
    const double segments =
        std::max(1.0, std::ceil(length / longest_segment(*choice.algorithm, torus, basis)));
    const double all = std::min<double>(most_pieces, choice.options.pieces * segments);
    return basis.model.time(with_pieces(cost, static_cast<Block>(all)), length) + overhead;
}

/// A pipeline that has not at least twice as many pieces as steps to fill it is for larger vectors:
/// a scatter and an allgather, which send everything twice in few steps, are about as fast there.
bool fills_in_time(const Algorithm& algorithm, const Torus& torus, std::size_t bytes,
                   const CostModel& model) {
    if (algorithm.best_pieces == nullptr) {
        return true;
    }
    const Schedule one_piece = algorithm.build(torus, 0, {.pieces = 1});
    return algorithm.best_pieces(torus, model, static_cast<double>(bytes)) >=
           2 * one_piece.parts.front().steps.count;
}

bool serves(const Algorithm& algorithm, const Needs& needs) {
    return (!needs.rank_order || algorithm.traits.order_preserving) &&
           (!needs.vector_variant || algorithm.traits.vector_variant);
}

bool is_meant_for(Unpriced unpriced, bool small) {
    return unpriced == Unpriced::all || unpriced == (small ? Unpriced::small : Unpriced::large);
}

/// For what is too large to price: what the registry names for this case, else a plain rule by
/// class.
const Algorithm* unpriced(const std::vector<Candidate>& all, const Torus& torus, std::size_t bytes,
                          const Needs& needs, const CostModel& model) {
    const bool small = bytes <= unpriced_latency_bytes;
    for (const Candidate& c : all) {
        if (serves(*c.algorithm, needs) && is_meant_for(c.algorithm->selection.unpriced, small)) {
            return c.algorithm;
        }
    }
    const Algorithm* fallback = nullptr;
    for (const Candidate& c : all) {
        if (!serves(*c.algorithm, needs)) {
            continue;
        }
        const bool suits = (c.algorithm->traits.cost_class == CostClass::latency) == small;
        if (suits && fills_in_time(*c.algorithm, torus, bytes, model)) {
            return c.algorithm;
        }
        fallback = fallback == nullptr ? c.algorithm : fallback;
    }
    return fallback;
}

/// Prices decide where some are known, and for short vectors that of what such vectors take.
bool goes_by_price(const std::vector<Candidate>& all, std::size_t bytes, const Needs& needs) {
    bool some = false;
    for (const Candidate& c : all) {
        const bool needed =
            bytes <= unpriced_latency_bytes && c.algorithm->selection.unpriced == Unpriced::small;
        if (serves(*c.algorithm, needs) && needed && !c.priced) {
            return false;
        }
        some |= serves(*c.algorithm, needs) && c.priced;
    }
    return some;
}

}  // namespace

SelectionBasis selection_basis(const Settings& settings) {
    return {settings.segment_bytes, settings.landing_bytes / LandingRings::few_slots,
            settings.cost_model.value_or(default_cost_model)};
}

Block pieces_for(const Algorithm& algorithm, const Torus& torus, std::size_t bytes,
                 const SelectionBasis& basis) {
    if (algorithm.best_pieces == nullptr) {
        return 0;
    }
    const double segment =
        std::min(static_cast<double>(bytes), longest_segment(algorithm, torus, basis));
    return std::min(most_pieces_of_segment, algorithm.best_pieces(torus, basis.model, segment));
}

double modelled_seconds(const Torus& torus, const Choice& choice, std::size_t bytes,
                        const SelectionBasis& basis) {
    BuildOptions options = choice.options;
    options.pieces = std::min<Block>(1, options.pieces);
    return expected_time(torus, choice, summarize_for_model(torus, *choice.algorithm, options),
                         bytes, basis);
}

AlgorithmChoice choose_algorithm(Collective collective, const Torus& torus, std::size_t bytes,
                                 const Needs& asked, const SelectionBasis& basis) {
    const bool reduces = traits_of(collective).reduces;
    const bool ordered = asked.rank_order && reduces;
    const Needs needs{ordered, asked.vector_variant, asked.any_order && reduces && !ordered};
    const std::vector<Candidate>& all = candidates(collective, torus, ordered, needs.any_order);
    const auto chosen = [&](const Algorithm& algorithm) {
        return Choice{&algorithm, {.pieces = pieces_for(algorithm, torus, bytes, basis)}};
    };
    AlgorithmChoice result;
    if (!goes_by_price(all, bytes, needs)) {
        if (const Algorithm* one = unpriced(all, torus, bytes, needs, basis.model)) {
            result.choice = chosen(*one);
        }
    } else {
        for (const Candidate& c : all) {
            if (!c.priced || !serves(*c.algorithm, needs) ||
                (!ordered && gathers_too_much(*c.algorithm, torus, bytes))) {
                continue;
            }
            const Choice choice = chosen(*c.algorithm);
            const double time = expected_time(torus, choice, c.cost, bytes, basis);
            if (!result.seconds || time < *result.seconds) {
                result = {choice, time, result.choice, result.seconds};
            } else if (!result.next_seconds || time < *result.next_seconds) {
                result.next = choice;
                result.next_seconds = time;
            }
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
