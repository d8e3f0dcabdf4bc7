// SPDX-License-Identifier: BSD-3-Clause
// Selection by the cost model with default parameters.
#include "comm/select.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/cost.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// 2 us per step, 200 ns per hop, 25 Gbit/s per link: a cautious guess that leaves the algorithms
/// which move whole vectors soon, as what they also cost in copies and reductions is not in the
/// model.
constexpr CostModel default_model{2e-6, 200e-9, 8.0 / 25e9};

/// Above this many ranks the summary of all ranks' schedules costs more than it saves.
constexpr Rank largest_priced = 1024;
constexpr Rank largest_priced_in_order = 128;
/// trivance-g stores all contributions and reduces them locally, which the model does not price: it
/// is for vectors whose contributions together are at most this.
constexpr std::size_t most_gathered_bytes = 65536;
/// What each further message through one port in one step costs its ranks, in seconds.
constexpr double message_overhead = 1e-6;
/// Where schedules are not priced: up to here steps dominate, beyond it bytes do (swing's setting).
constexpr std::size_t unpriced_latency_bytes = 32768;

bool is_priced(const Torus& torus, bool in_rank_order) {
    return torus.ranks() <= (in_rank_order ? largest_priced_in_order : largest_priced);
}

struct Candidate {
    const Algorithm* algorithm;
    CostSummary cost;
};

/// What sends every block straight to its reducer is there for the order of the ranks only: pricing
/// its p^2 messages costs more than it ever saves.
bool suits_order(const Traits& traits, bool in_rank_order) {
    return in_rank_order ? traits.order_preserving
                         : !traits.order_preserving || traits.cost_class == CostClass::latency;
}

bool is_candidate(const Algorithm& algorithm, Collective collective, const Torus& torus) {
    // The plain ring has bucket's volume on one dimension and more steps on several.
    return algorithm.collective == collective && algorithm.traits.identical_results &&
           algorithm.refusal(torus).empty() && algorithm.name != "ring";
}

bool gathers_too_much(const Algorithm& algorithm, const Torus& torus, std::size_t bytes) {
    return algorithm.name == "trivance-g" &&
           bytes > most_gathered_bytes / static_cast<std::size_t>(torus.ranks());
}

/// The root does not matter: a torus looks alike from every rank.
const std::vector<Candidate>& candidates(Collective collective, const Torus& torus,
                                         bool in_rank_order) {
    static std::mutex mutex;
    static std::map<std::tuple<Collective, std::string, bool>, std::vector<Candidate>> cache;
    const std::lock_guard lock(mutex);
    std::vector<Candidate>& found = cache[{collective, torus.name(), in_rank_order}];
    if (found.empty()) {
        for (const Algorithm& algorithm : algorithms()) {
            if (is_candidate(algorithm, collective, torus) &&
                suits_order(algorithm.traits, in_rank_order)) {
                const bool priced = is_priced(torus, in_rank_order);
                found.push_back({&algorithm, priced ? summarize(torus, algorithm) : CostSummary{}});
            }
        }
    }
    return found;
}

double expected_time(const Candidate& candidate, std::size_t bytes) {
    return default_model.time(candidate.cost, static_cast<double>(bytes)) +
           message_overhead * std::max(0, candidate.cost.max_sends_per_port_per_step - 1);
}

/// For machines too large to price: a plain rule by class.
const Algorithm* unpriced(const std::vector<Candidate>& all, Collective collective,
                          std::size_t bytes, bool in_rank_order) {
    const bool small = bytes <= unpriced_latency_bytes;
    if (collective == Collective::allreduce && !in_rank_order) {
        return &find_algorithm(collective, small ? "recursive-doubling-i" : "swing-b");
    }
    const Algorithm* fallback = nullptr;
    for (const Candidate& c : all) {
        if (in_rank_order && !c.algorithm->traits.order_preserving) {
            continue;
        }
        const bool suits = (c.algorithm->traits.cost_class == CostClass::latency) == small;
        if (suits) {
            return c.algorithm;
        }
        fallback = fallback == nullptr ? c.algorithm : fallback;
    }
    return fallback;
}

}  // namespace

AlgorithmChoice choose_algorithm(Collective collective, const Torus& torus, std::size_t bytes,
                                 bool in_rank_order) {
    const bool ordered = in_rank_order && is_reduction(collective);
    const std::vector<Candidate>& all = candidates(collective, torus, ordered);
    AlgorithmChoice choice;
    if (!is_priced(torus, ordered)) {
        choice.algorithm = unpriced(all, collective, bytes, ordered);
    } else {
        for (const Candidate& c : all) {
            if ((ordered && !c.algorithm->traits.order_preserving) ||
                (!ordered && gathers_too_much(*c.algorithm, torus, bytes))) {
                continue;
            }
            const double time = expected_time(c, bytes);
            if (!choice.seconds || time < *choice.seconds) {
                choice = {c.algorithm, time, choice.algorithm, choice.seconds};
            } else if (!choice.next_seconds || time < *choice.next_seconds) {
                choice.next = c.algorithm;
                choice.next_seconds = time;
            }
        }
    }
    if (choice.algorithm == nullptr) {
        throw Error(Status::unsupported, "no " + std::string(to_string(collective)) +
                                             " algorithm supports torus " + torus.name() +
                                             (ordered ? " and reduces in rank order" : ""));
    }
    return choice;
}

const Algorithm& select_algorithm(Collective collective, const Torus& torus, std::size_t bytes,
                                  bool in_rank_order) {
    return *choose_algorithm(collective, torus, bytes, in_rank_order).algorithm;
}

}  // namespace trefoil
