// SPDX-License-Identifier: BSD-3-Clause
// Who may run a call without being named, whose price takes part, and what its schedules cost.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/analysis/cost.hpp"
#include "comm/plan/needs.hpp"

namespace trefoil {

/// Up to so many ranks all candidates are priced, but for alltoall and the order of the ranks.
inline constexpr Rank largest_priced = 1024;

/// Of one algorithm, one candidate or two: on nodes of several ranks also by node.
std::vector<BuildOptions> options_of(const Algorithm& algorithm, const Torus& torus);

/// Among how many an algorithm works.
Rank ranks_between(const Torus& torus, const BuildOptions& options);

/// Why an algorithm is no candidate, whatever the size; empty: it is one.
///
/// What sends every block straight to its reducer is there for the order of the ranks only: pricing
/// its p^2 messages costs more than it ever saves. On large tori that is so for any `direct`.
std::string exclusion(const Algorithm& algorithm, const Torus& torus, const BuildOptions& options,
                      const Needs& needs);

/// What is known of it is found when it is asked for: most candidates lose by a bound.
struct AutoCandidate {
    const Algorithm* algorithm;
    BuildOptions options;  ///< with one piece, if it is pipelined
    bool priced;
    std::optional<CostSummary> least, cost;  ///< of pipelined algorithms: with one piece
};

/// The candidates for one collective and torus. The root does not matter: a torus looks alike from
/// every rank.
class AutoCandidates {
  public:
    /// Of `needs` the orders count.
    AutoCandidates(Collective collective, const Torus& torus, const Needs& needs,
                   ModelSummaries::Figures figures);
    AutoCandidates(const AutoCandidates&) = delete;
    AutoCandidates& operator=(const AutoCandidates&) = delete;

    std::vector<AutoCandidate>& all() { return all_; }
    bool needs_no_bound(const AutoCandidate& candidate) {
        return summaries_.needs_no_bound(*candidate.algorithm, candidate.options);
    }
    /// A bound from below, and the whole.
    const CostSummary& least(AutoCandidate& candidate);
    const CostSummary& cost(AutoCandidate& candidate);
    /// Held by whoever uses it.
    std::mutex mutex;

  private:
    Torus torus_;
    ModelSummaries summaries_;
    std::vector<AutoCandidate> all_;
};

/// Made at the first call of its kind, and kept. Thread-safe.
AutoCandidates& auto_candidates(Collective collective, const Torus& torus, const Needs& needs,
                                ModelSummaries::Figures figures);

/// Why a candidate does not suit this call; empty: it does.
std::string misfit(const AutoCandidate& candidate, const Needs& needs);
inline bool serves(const AutoCandidate& candidate, const Needs& needs) {
    return misfit(candidate, needs).empty();
}

/// Why the price of a candidate takes no part; empty: it does. `model`: tells whether bursts may.
/// `by_price`: prices decide this call.
std::string sits_out(const AutoCandidate& candidate, const Torus& torus, std::size_t bytes,
                     const Needs& needs, const CostModel& model, bool by_price);

}  // namespace trefoil
