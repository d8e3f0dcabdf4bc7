// SPDX-License-Identifier: BSD-3-Clause
// Candidates of the automatic choice: what excludes an algorithm, and how much it takes to price
// it.
#include "comm/plan/candidates.hpp"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "algorithms/registry/registry.hpp"

namespace trefoil {

namespace {

/// On larger tori than `largest_priced` an algorithm is priced where so few ranks' schedules tell
/// of all (that of a small vector's first choice, with its few steps, where some more do).
constexpr Rank most_classes = 64;
constexpr Rank most_classes_for_small = 1024;
constexpr Rank most_on_axes = 8192;
constexpr Rank largest_priced_in_order = 128;
/// Of alltoall, whose schedules have p messages; and where all of them are summed.
constexpr Rank largest_priced_alltoall = 4096;
constexpr Rank largest_summed_alltoall = 256;
/// Algorithms that gather contributions are for vectors whose contributions together are at most
/// this.
constexpr std::size_t most_gathered_bytes = 16384;

bool is_priced(const Algorithm& algorithm, const Torus& torus, const BuildOptions& options,
               bool in_rank_order, ModelSummaries& summaries) {
    const bool exchanges = algorithm.collective == Collective::alltoall;
    const Rank all = in_rank_order ? largest_priced_in_order
                     : exchanges   ? largest_summed_alltoall
                                   : largest_priced;
    if (ranks_between(torus, options) <= all) {
        return true;
    }
    // No formula knows what is unlike a torus: each pair's way would be looked for.
    const bool too_many = torus.ranks() > largest_priced_alltoall || torus.fabric() != nullptr;
    if (in_rank_order || (exchanges && too_many)) {
        return false;
    }
    const Rank most = summaries.goes_by_axes(algorithm, options)        ? most_on_axes
                      : algorithm.selection.unpriced == Unpriced::small ? most_classes_for_small
                                                                        : most_classes;
    return summaries.schedules(algorithm, options) <= most;
}

bool gathers_too_much(const AutoCandidate& candidate, const Torus& torus, std::size_t bytes) {
    const Algorithm& algorithm = *candidate.algorithm;
    const auto ranks = static_cast<std::size_t>(ranks_between(torus, candidate.options));
    const std::size_t contributions =
        traits_of(algorithm.collective).blocks_have_owners() ? 1 : ranks;  // in vectors
    return algorithm.selection.gathers_contributions && bytes > most_gathered_bytes / contributions;
}

}  // namespace

std::vector<BuildOptions> options_of(const Algorithm& algorithm, const Torus& torus) {
    const BuildOptions plain{.pieces = algorithm.abilities.pieces ? 1U : 0U};
    BuildOptions by_node = plain;
    by_node.by_node = true;
    const bool both = algorithm.abilities.by_node && torus.per_node() > 1;
    return both ? std::vector{plain, by_node} : std::vector{plain};
}

Rank ranks_between(const Torus& torus, const BuildOptions& options) {
    return options.by_node ? torus.nodes().ranks() : torus.ranks();
}

std::string exclusion(const Algorithm& algorithm, const Torus& torus, const BuildOptions& options,
                      const Needs& needs) {
    const Traits traits = algorithm.traits_with(options);
    const Rank most = algorithm.selection.most_ranks;
    if (traits.reads_peers) {
        return "it reads the memory of peers, which the size decides, not a price";
    }
    if (algorithm.selection.only_by_name_on(torus)) {
        return most == 0 ? "it runs only when it is named"
                         : std::string("it is for networks that are not whole tori") +
                               (algorithm.selection.tori == Tori::unequal
                                    ? ", and for tori of up to 256 nodes whose sizes differ"
                                    : "") +
                               "; on this one it runs when it is named";
    }
    if (ranks_between(torus, options) > most) {
        return "it is considered for up to " + std::to_string(most) + " ranks";
    }
    if (!traits.identical_results && !needs.any_order) {
        return "its ranks combine in different orders, and this operation and type give other "
               "bits in another order";
    }
    const std::string reason = algorithm.refusal(torus, options);
    if (!reason.empty()) {
        return reason;
    }
    const bool ordered = needs.rank_order || traits_of(algorithm.collective).is_prefix();
    if (needs.rank_order && !traits.order_preserving) {
        return "it does not reduce in rank order";
    }
    if (!ordered && algorithm.traits.order_preserving && traits.cost_class != CostClass::latency) {
        return "it is for the order of the ranks, which this call does not need";
    }
    return "";
}

AutoCandidates::AutoCandidates(Collective collective, const Torus& torus, const Needs& needs,
                               ModelSummaries::Figures figures)
    : torus_(torus), summaries_(torus_, figures) {
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective != collective) {
            continue;
        }
        for (const BuildOptions& options : options_of(algorithm, torus)) {
            if (exclusion(algorithm, torus, options, needs).empty()) {
                all_.push_back({&algorithm,
                                options,
                                is_priced(algorithm, torus_, options, needs.rank_order, summaries_),
                                {},
                                {}});
            }
        }
    }
}

const CostSummary& AutoCandidates::least(AutoCandidate& candidate) {
    if (!candidate.least) {
        candidate.least = summaries_.least(*candidate.algorithm, candidate.options);
    }
    return *candidate.least;
}

const CostSummary& AutoCandidates::cost(AutoCandidate& candidate) {
    if (!candidate.cost) {
        candidate.cost = summaries_.of(*candidate.algorithm, candidate.options);
    }
    return *candidate.cost;
}

AutoCandidates& auto_candidates(Collective collective, const Torus& torus, const Needs& needs,
                                ModelSummaries::Figures figures) {
    using Key = std::tuple<Collective, std::string, bool, bool, ModelSummaries::Figures>;
    static std::mutex mutex;
    static auto& cache = *new std::map<Key, std::unique_ptr<AutoCandidates>>;
    const std::lock_guard lock(mutex);
    std::unique_ptr<AutoCandidates>& found =
        cache[{collective, torus.name(), needs.rank_order, needs.any_order, figures}];
    if (found == nullptr) {
        found = std::make_unique<AutoCandidates>(collective, torus, needs, figures);
    }
    return *found;
}

std::string misfit(const AutoCandidate& candidate, const Needs& needs) {
    const Traits traits = candidate.algorithm->traits_with(candidate.options);
    if (needs.rank_order && !traits.order_preserving) {
        return "it does not reduce in rank order";
    }
    if (needs.vector_variant && !traits.vector_variant) {
        return "it forwards blocks, whose sizes the ranks between do not know";
    }
    return "";
}

std::string sits_out(const AutoCandidate& candidate, const Torus& torus, std::size_t bytes,
                     const Needs& needs, const CostModel& model, bool by_price) {
    const std::string reason = misfit(candidate, needs);
    if (!reason.empty()) {
        return reason;
    }
    if (!needs.rank_order && gathers_too_much(candidate, torus, bytes)) {
        return "each rank would store and reduce the contributions of all, which is for short "
               "vectors";
    }
    if (const std::size_t most = candidate.algorithm->selection.most_bytes; bytes > most) {
        return "it is considered for vectors of up to " + std::to_string(most) + " bytes";
    }
    if (!needs.rank_order && candidate.algorithm->selection.bursts && model.message > model.wait) {
        return "it sends to many ranks at once, which takes long where ranks share cores and each "
               "message costs more than a wait";
    }
    return !by_price ? "there are too many ranks to price all candidates, so the size alone decides"
           : !candidate.priced ? "there are too many ranks to price it"
                               : "";
}

}  // namespace trefoil
