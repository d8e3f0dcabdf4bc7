// SPDX-License-Identifier: BSD-3-Clause
// The sums, term by term.
#include "algorithms/rewiring/thresholds.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

namespace {

double vector_of(const ThresholdModel& model) {
    return model.mirrored ? model.vector / 2 : model.vector;
}

/// Changes of wiring until the phase's last step is done, and back to the ring if it must be.
int changes(const ThresholdModel& model, Phase phase, int threshold, int steps) {
    const bool rewires = threshold < steps;
    const int wired = steps - threshold;
    switch (phase) {
        case Phase::reduce_scatter:
            return wired + (rewires && model.give_back ? 1 : 0);
        case Phase::allgather:
            return wired + (rewires && (threshold > 0 || model.give_back) ? 1 : 0);
        case Phase::allreduce:
            // The reduce-scatter's last circuits are the allgather's first ones.
            return 2 * wired - (rewires ? 1 : 0) +
                   (rewires && (threshold > 0 || model.give_back) ? 1 : 0);
    }
    return 0;
}

}  // namespace

int threshold_steps(const ThresholdModel& model) {
    if (model.nodes < 1 || !std::has_single_bit(static_cast<std::uint32_t>(model.nodes))) {
        throw Error(Status::unsupported,
                    "the thresholds of halving and doubling are for powers of two, not for " +
                        std::to_string(model.nodes) + " nodes");
    }
    return std::countr_zero(static_cast<std::uint32_t>(model.nodes));
}

double ring_step(const ThresholdModel& model, int step) {
    const bool last = step + 1 == threshold_steps(model);
    const bool both_ways = last && model.tie == Tie::both && !model.mirrored;
    return model.alpha + std::ldexp(model.hop, step) + vector_of(model) / (both_ways ? 4 : 2);
}

double circuit_step(const ThresholdModel& model, int step) {
    return model.alpha + model.hop + std::ldexp(vector_of(model), -(step + 1));
}

double ring_algorithm(const ThresholdModel& model, Phase phase) {
    const double once =
        (model.nodes - 1) * (model.alpha + model.hop + vector_of(model) / model.nodes);
    return phase == Phase::allreduce ? 2 * once : once;
}

double threshold_seconds(const ThresholdModel& model, Phase phase, int threshold) {
    const int steps = threshold_steps(model);
    double sum = 0;
    for (int k = 0; k < steps; ++k) {
        sum += k < threshold ? ring_step(model, k) : circuit_step(model, k);
    }
    return (phase == Phase::allreduce ? 2 * sum : sum) +
           changes(model, phase, threshold, steps) * model.change;
}

Threshold best_threshold(const ThresholdModel& model, Phase phase) {
    const int steps = threshold_steps(model);
    Threshold best{steps, threshold_seconds(model, phase, steps), ring_algorithm(model, phase)};
    for (int t = steps - 1; t >= 1; --t) {
        const double seconds = threshold_seconds(model, phase, t);
        if (seconds < best.seconds * (1 - 1e-12)) {
            best.steps = t;
            best.seconds = seconds;
        }
    }
    return best;
}

int closed_threshold(const ThresholdModel& model) {
    const int steps = threshold_steps(model);
    for (int k = 1; k < steps; ++k) {
        const double saved =
            (std::ldexp(1.0, k) - 1) * model.hop + vector_of(model) / 2 * (1 - std::ldexp(1.0, -k));
        if (saved > model.change) {
            return k;
        }
    }
    return steps;
}

double change_that_pays_at_any_size(const ThresholdModel& model) {
    const int steps = threshold_steps(model);
    return (model.alpha + model.hop) * (model.nodes - 1 - steps) / (steps - 1);
}

}  // namespace trefoil
