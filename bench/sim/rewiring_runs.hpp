// SPDX-License-Identifier: BSD-3-Clause
// Algorithms on machines whose wiring may change between steps: what each run tells.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/rewiring/rewiring.hpp"
#include "algorithms/rewiring/thresholds.hpp"
#include "bench/sim/options.hpp"
#include "bench/sim/rewiring_options.hpp"
#include "comm/plan/choices.hpp"

namespace trefoil::tool {

struct RewiringQuestion {
    SimOptions sim;
    Circuits circuits;
    bool single_port = false;
    /// The fallback is the best static schedule of all of the collective's; else of those asked.
    bool fall_back_to_all = true;
};

/// One algorithm on one torus, ready for all sizes and costs.
struct RewiringSubject {
    std::string asked;  ///< as the user named it
    Choice choice;
    Torus torus;
    std::unique_ptr<const Rewiring> rewiring;
    /// Halving and doubling on one ring of a power of two: which phase.
    std::optional<Phase> phase;
};

/// A schedule that runs without any change: sums over its steps.
struct StaticSchedule {
    std::string name;
    double steps = 0;
    double hops = 0;  ///< of each step's farthest message
    double load = 0;  ///< vectors on each step's busiest link

    double seconds(const RewiringCosts& costs, double bytes) const {
        return steps * costs.alpha + hops * costs.hop + load * bytes * costs.byte;
    }
};

/// What is compared with on one torus.
struct RewiringField {
    std::vector<RewiringSubject> subjects;
    std::vector<StaticSchedule> statics;    ///< the ring first
    std::vector<std::string> not_compared;  ///< statics that were left out, and why
};

struct RewiringRun {
    double seconds = 0;         ///< the optimum
    double static_seconds = 0;  ///< the same schedule without a change
    double ring_seconds = 0;    ///< the algorithm `ring`
    std::string best_static;    ///< the cheapest static schedule
    double best_static_seconds = 0;
    WiringSequence sequence;
    std::optional<Threshold> threshold;  ///< by the conventions in effect
    std::optional<Threshold> published;  ///< by (1) to (5): ties go one way

    bool falls_back() const { return best_static_seconds < seconds; }
    double with_fallback() const { return falls_back() ? best_static_seconds : seconds; }
};

/// All algorithms on one torus; those that do not run are named in `left_out`. Throws Error for
/// what cannot be answered at all.
RewiringField rewiring_field(const RewiringQuestion& question, const Torus& torus,
                             std::vector<std::string>& left_out);

/// The machine's costs together with those of changes.
RewiringCosts costs_of(const RewiringQuestion& question);

RewiringRun run_of(const RewiringQuestion& question, const RewiringField& field,
                   const RewiringSubject& subject, const RewiringCosts& costs, double bytes);

}  // namespace trefoil::tool
