// SPDX-License-Identifier: BSD-3-Clause
// Selection by the cost model.
#include "comm/plan/select.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
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
constexpr Rank most_on_axes = 8192;
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

/// Of one algorithm, one candidate or two: on nodes of several ranks also by node.
std::vector<BuildOptions> options_of(const Algorithm& algorithm, const Torus& torus) {
    const BuildOptions plain{.pieces = algorithm.abilities.pieces ? 1U : 0U};
    BuildOptions by_node = plain;
    by_node.by_node = true;
    const bool both = algorithm.abilities.by_node && torus.per_node() > 1;
    return both ? std::vector{plain, by_node} : std::vector{plain};
}

/// Among how many an algorithm works.
Rank ranks_between(const Torus& torus, const BuildOptions& options) {
    return options.by_node ? torus.nodes().ranks() : torus.ranks();
}

bool is_priced(const Algorithm& algorithm, const Torus& torus, const BuildOptions& options,
               bool in_rank_order, ModelSummaries& summaries) {
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
    const Rank most = summaries.goes_by_axes(algorithm, options)        ? most_on_axes
                      : algorithm.selection.unpriced == Unpriced::small ? most_classes_for_small
                                                                        : most_classes;
    return summaries.schedules(algorithm, options) <= most;
}

/// What is known of it is found when it is asked for: most candidates lose by a bound.
struct Candidate {
    const Algorithm* algorithm;
    BuildOptions options;  ///< with one piece, if it is pipelined
    bool priced;
    std::optional<CostSummary> least, cost;  ///< of pipelined algorithms: with one piece
};

/// Why an algorithm is no candidate, whatever the size; empty: it is one.
///
/// What sends every block straight to its reducer is there for the order of the ranks only: pricing
/// its p^2 messages costs more than it ever saves. On large tori that is so for any `direct`.
std::string exclusion(const Algorithm& algorithm, const Torus& torus, const BuildOptions& options,
                      bool in_rank_order, bool any_order) {
    const Traits traits = algorithm.traits_with(options);
    const Rank most = algorithm.selection.most_ranks;
    if (traits.reads_peers) {
        return "it reads the memory of peers, which the size decides, not a price";
    }
    if (most == 0) {
        return "it runs only when it is named";
    }
    if (ranks_between(torus, options) > most) {
        return "it is considered for up to " + std::to_string(most) + " ranks";
    }
    if (!traits.identical_results && !any_order) {
        return "its ranks combine in different orders, and this operation and type give other "
               "bits in another order";
    }
    const std::string reason = algorithm.refusal(torus, options);
    if (!reason.empty()) {
        return reason;
    }
    const bool ordered = in_rank_order || traits_of(algorithm.collective).is_prefix();
    if (in_rank_order && !traits.order_preserving) {
        return "it does not reduce in rank order";
    }
    if (!ordered && algorithm.traits.order_preserving && traits.cost_class != CostClass::latency) {
        return "it is for the order of the ranks, which this call does not need";
    }
    return "";
}

bool gathers_too_much(const Candidate& candidate, const Torus& torus, std::size_t bytes) {
    const auto ranks = static_cast<std::size_t>(ranks_between(torus, candidate.options));
    return candidate.algorithm->selection.gathers_contributions &&
           bytes > most_gathered_bytes / ranks;
}

/// The candidates for one collective and torus. The root does not matter: a torus looks alike from
/// every rank.
class Candidates {
  public:
    Candidates(Collective collective, const Torus& torus, bool in_rank_order, bool any_order,
               ModelSummaries::Figures figures)
        : torus_(torus), summaries_(torus_, figures) {
        for (const Algorithm& algorithm : algorithms()) {
            if (algorithm.collective != collective) {
                continue;
            }
            for (const BuildOptions& options : options_of(algorithm, torus)) {
                if (exclusion(algorithm, torus, options, in_rank_order, any_order).empty()) {
                    all_.push_back(
                        {&algorithm,
                         options,
                         is_priced(algorithm, torus_, options, in_rank_order, summaries_),
                         {},
                         {}});
                }
            }
        }
    }
    Candidates(const Candidates&) = delete;
    Candidates& operator=(const Candidates&) = delete;

    std::vector<Candidate>& all() { return all_; }
    /// One rank's schedule tells all, or no less than a bound would take.
    bool needs_no_bound(const Candidate& candidate) {
        return summaries_.schedules(*candidate.algorithm, candidate.options) == 1;
    }
    const CostSummary& least(Candidate& candidate) {
        if (!candidate.least) {
            candidate.least = summaries_.least(*candidate.algorithm, candidate.options);
        }
        return *candidate.least;
    }
    const CostSummary& cost(Candidate& candidate) {
        if (!candidate.cost) {
            candidate.cost = summaries_.of(*candidate.algorithm, candidate.options);
        }
        return *candidate.cost;
    }
    /// Held by whoever uses it.
    std::mutex mutex;

  private:
    Torus torus_;
    ModelSummaries summaries_;
    std::vector<Candidate> all_;
};

Candidates& candidates(Collective collective, const Torus& torus, bool in_rank_order,
                       bool any_order, ModelSummaries::Figures figures) {
    using Key = std::tuple<Collective, std::string, bool, bool, ModelSummaries::Figures>;
    static std::mutex mutex;
    static std::map<Key, std::unique_ptr<Candidates>> cache;
    const std::lock_guard lock(mutex);
    std::unique_ptr<Candidates>& found =
        cache[{collective, torus.name(), in_rank_order, any_order, figures}];
    if (found == nullptr) {
        found = std::make_unique<Candidates>(collective, torus, in_rank_order, any_order, figures);
    }
    return *found;
}

/// Of one segment, in bytes of the vector.
double longest_segment(const Choice& choice, const Torus& torus, const SelectionBasis& basis) {
    const auto asked = static_cast<double>(std::max<std::size_t>(1, basis.segment_bytes));
    const double vectors = choice.algorithm->landing(torus, {.by_node = choice.options.by_node});
    return vectors > 0 ? std::min(asked, static_cast<double>(basis.slot_bytes) / vectors) : asked;
}

/// Segments overlap, so that the pieces of all of them are one pipeline. `cost` is a Candidate's.
CostSummary whole_cost(const Torus& torus, const Choice& choice, const CostSummary& cost,
                       std::size_t bytes, const SelectionBasis& basis) {
    if (choice.options.pieces == 0) {
        return cost;
    }
    const double segments = std::max(
        1.0, std::ceil(static_cast<double>(bytes) / longest_segment(choice, torus, basis)));
    const double all = std::min<double>(most_pieces, choice.options.pieces * segments);
    return with_pieces(cost, static_cast<Block>(all));
}

/// A pipeline that has not at least twice as many pieces as steps to fill it is for larger vectors:
/// a scatter and an allgather, which send everything twice in few steps, are about as fast there.
bool fills_in_time(const Candidate& candidate, const Torus& torus, std::size_t bytes,
                   const CostModel& model) {
    const Algorithm& algorithm = *candidate.algorithm;
    if (algorithm.best_pieces == nullptr) {
        return true;
    }
    const Schedule one_piece = algorithm.build(torus, 0, candidate.options);
    return algorithm.pieces(torus, candidate.options, model, static_cast<double>(bytes)) >=
           2 * one_piece.parts.front().steps.count;
}

/// Why a candidate does not suit this call; empty: it does.
std::string misfit(const Candidate& candidate, const Needs& needs) {
    const Traits traits = candidate.algorithm->traits_with(candidate.options);
    if (needs.rank_order && !traits.order_preserving) {
        return "it does not reduce in rank order";
    }
    if (needs.vector_variant && !traits.vector_variant) {
        return "it forwards blocks, whose sizes the ranks between do not know";
    }
    return "";
}

bool serves(const Candidate& candidate, const Needs& needs) {
    return misfit(candidate, needs).empty();
}

bool is_meant_for(Unpriced unpriced, bool small) {
    return unpriced == Unpriced::all || unpriced == (small ? Unpriced::small : Unpriced::large);
}

/// For what is too large to price: what the registry names for this case, else a plain rule by
/// class; by node where there are nodes.
const Candidate* unpriced(const std::vector<Candidate>& all, const Torus& torus, std::size_t bytes,
                          const Needs& needs, const CostModel& model) {
    const bool small = bytes <= unpriced_latency_bytes;
    const auto is_best_of_kind = [&](const Candidate& c) {
        return c.options.by_node || torus.per_node() == 1 || !c.algorithm->abilities.by_node;
    };
    for (const Candidate& c : all) {
        if (serves(c, needs) && is_best_of_kind(c) &&
            is_meant_for(c.algorithm->selection.unpriced, small)) {
            return &c;
        }
    }
    const Candidate* fallback = nullptr;
    for (const Candidate& c : all) {
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
bool goes_by_price(const std::vector<Candidate>& all, std::size_t bytes, const Needs& needs) {
    bool some = false;
    for (const Candidate& c : all) {
        const bool needed =
            bytes <= unpriced_latency_bytes && c.algorithm->selection.unpriced == Unpriced::small;
        if (serves(c, needs) && needed && !c.priced) {
            return false;
        }
        some |= serves(c, needs) && c.priced;
    }
    return some;
}

/// Why the price of a candidate takes no part; empty: it does.
std::string sits_out(const Candidate& candidate, const Torus& torus, std::size_t bytes,
                     const Needs& needs, bool by_price) {
    const std::string reason = misfit(candidate, needs);
    if (!reason.empty()) {
        return reason;
    }
    if (!needs.rank_order && gathers_too_much(candidate, torus, bytes)) {
        return "each rank would store and reduce the contributions of all, which is for short "
               "vectors";
    }
    return !by_price ? "there are too many ranks to price all candidates, so the size alone decides"
           : !candidate.priced ? "there are too many ranks to price it"
                               : "";
}

/// A candidate for one call, and what is known of its price. Of equal prices that counts as less
/// which comes first in the table.
struct Contestant {
    enum class Known : std::uint8_t { steps, least, all };
    Candidate* candidate;
    Choice choice;
    Known known;
    double seconds;  ///< a bound from below until all is known
};

CostSummary least_steps(const Candidate& candidate, const Torus& torus) {
    CostSummary cost;
    const auto least = candidate.algorithm->least_steps;
    cost.steps = least == nullptr || torus.per_node() > 1 ? 0 : least(torus);
    cost.sum_hops = cost.steps;
    return cost;
}

/// Finds more about whoever seems cheapest until that one's price is known: all others cost more.
/// What is found depends on nothing but the call. The first one is the cheapest then.
template <typename Price>
void find_cheapest(Candidates& candidates, std::vector<Contestant>& contestants, Price&& price) {
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
            std::string reason =
                exclusion(algorithm, torus, options, needs.rank_order, needs.any_order);
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
    const double segment =
        std::min(static_cast<double>(bytes), longest_segment(choice, torus, basis));
    return std::min(most_pieces_of_segment,
                    choice.algorithm->pieces(torus, choice.options, basis.model, segment));
}

Price price_of(const Torus& torus, const Choice& choice, const CostSummary& whole,
               std::size_t bytes, const CostModel& model) {
    const int more_messages = std::max(0, whole.max_sends_per_port_per_step - 1);
    const int contributions = choice.algorithm->selection.gathers_contributions
                                  ? ranks_between(torus, choice.options) - 1
                                  : 0;
    return {.terms = model.terms(whole, static_cast<double>(bytes)),
            .further_messages = model.alpha * (message_overhead * more_messages),
            .contributions = model.alpha * (contribution_overhead * contributions)};
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
    Candidates& known =
        candidates(collective, torus, ordered, needs.any_order,
                   links_only ? ModelSummaries::Figures::links : ModelSummaries::Figures::all);
    const std::lock_guard lock(known.mutex);
    std::vector<Candidate>& all = known.all();
    const bool by_price = goes_by_price(all, bytes, needs);
    const Candidate* const by_rule =
        by_price ? nullptr : unpriced(all, torus, bytes, needs, basis.model);
    const auto with_its_pieces = [&](const Candidate& candidate) {
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
    std::vector<Contestant> contestants;
    for (Candidate& c : all) {
        std::string reason = &c == by_rule ? "" : sits_out(c, torus, bytes, needs, by_price);
        if (!reason.empty() || !by_price) {
            if (considered != nullptr) {
                considered->push_back(
                    {{c.algorithm, {.by_node = c.options.by_node}}, std::move(reason)});
            }
            continue;
        }
        const Choice choice = with_its_pieces(c);
        contestants.push_back(
            {&c, choice, Contestant::Known::steps, seconds(choice, least_steps(c, torus))});
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
        result.at_least = known.cost(*contestants[0].candidate).at_least;
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
