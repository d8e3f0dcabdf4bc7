// SPDX-License-Identifier: BSD-3-Clause
// Selection by the cost model with default parameters.
#include "comm/select.hpp"

#include <map>
#include <mutex>
#include <string>
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
/// trivance-g stores all contributions and reduces them locally, which the model does not price: it
/// is for vectors whose contributions together are at most this.
constexpr std::size_t most_gathered_bytes = 65536;
/// Where schedules are not priced: up to here steps dominate, beyond it bytes do (swing's setting).
constexpr std::size_t unpriced_latency_bytes = 32768;

struct Candidate {
    const Algorithm* algorithm;
    CostSummary cost;
};

bool is_candidate(const Algorithm& algorithm, const Torus& torus) {
    if (algorithm.collective != Collective::allreduce || !algorithm.traits.identical_results ||
        !algorithm.refusal(torus).empty()) {
        return false;
    }
    // The plain ring has bucket's volume on one dimension and more steps on several.
    return algorithm.name != "ring";
}

bool gathers_too_much(const Algorithm& algorithm, const Torus& torus, std::size_t bytes) {
    return algorithm.name == "trivance-g" &&
           bytes > most_gathered_bytes / static_cast<std::size_t>(torus.ranks());
}

const std::vector<Candidate>& candidates(const Torus& torus) {
    static std::mutex mutex;
    static std::map<std::string, std::vector<Candidate>> cache;
    const std::lock_guard lock(mutex);
    std::vector<Candidate>& found = cache[torus.name()];
    if (found.empty()) {
        for (const Algorithm& algorithm : algorithms()) {
            if (is_candidate(algorithm, torus)) {
                found.push_back({&algorithm, summarize(torus, algorithm)});
            }
        }
    }
    return found;
}

}  // namespace

const Algorithm& select_allreduce(const Torus& torus, std::size_t bytes) {
    if (torus.ranks() > largest_priced) {
        return find_algorithm(Collective::allreduce,
                              bytes <= unpriced_latency_bytes ? "recursive-doubling-i" : "swing-b");
    }
    const Algorithm* best = nullptr;
    double best_time = 0;
    for (const Candidate& c : candidates(torus)) {
        if (gathers_too_much(*c.algorithm, torus, bytes)) {
            continue;
        }
        const double time = default_model.time(c.cost, static_cast<double>(bytes));
        if (best == nullptr || time < best_time) {
            best = c.algorithm;
            best_time = time;
        }
    }
    if (best == nullptr) {
        throw Error(Status::unsupported, "no allreduce algorithm supports torus " + torus.name());
    }
    return *best;
}

}  // namespace trefoil
