// SPDX-License-Identifier: BSD-3-Clause
// A schedule on a torus whose wiring may change between its steps: candidates, costs, the optimum.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/rewiring/optimum.hpp"
#include "algorithms/rewiring/own_circuits.hpp"
#include "algorithms/rewiring/step_legs.hpp"
#include "algorithms/rewiring/wiring.hpp"
#include "algorithms/rewiring/wiring_load.hpp"

namespace trefoil {

/// Which wirings may be made beside the torus itself.
enum class Candidates : std::uint8_t {
    none,
    own,     ///< each step's own circuits
    shifted  ///< these, and all shifted rings
};

struct RewiringOptions {
    Candidates candidates = Candidates::own;
    Tie tie = Tie::both;
    WiringLimits limits = {};
    /// Dimensions with a switch; empty: all. In the others the rings of the torus stay.
    std::vector<int> switched = {};
};

/// Seconds, and seconds per byte of a circuit.
struct RewiringCosts {
    double alpha = 0;  ///< of each step
    double hop = 0;
    double byte = 0;
    double reconfiguration = 0;  ///< of each change of wiring, in however many dimensions
    double barrier = 0;          ///< before each change
    bool free_start = false;     ///< ChangeCosts::free_start
    bool give_back = false;      ///< ChangeCosts::give_back
};

/// Immutable; all functions are thread-safe. A wiring has a candidate per dimension; wiring 0 is
/// the torus. Costs of any vector, delay and rate follow from what was worked out once.
class Rewiring {
  public:
    /// Throws Error(invalid_argument): a dimension that the torus does not have;
    /// Error(unsupported): too many wirings, or as legs_of().
    Rewiring(const Torus& torus, const Algorithm& algorithm, const BuildOptions& build,
             const RewiringOptions& options);

    /// Steps in which anybody sends, and their numbers in the schedule.
    std::size_t steps() const { return steps_.size(); }
    const StepLegs& step(std::size_t index) const { return steps_[index]; }
    std::size_t wirings() const { return wirings_; }
    /// The candidate of `dimension` in a wiring.
    const DimensionWiring& wiring(std::size_t wiring, int dimension) const {
        return candidates_[dimension][candidate(wiring, dimension)];
    }
    /// What a step costs on a wiring, all dimensions together.
    WiringLoad load(std::size_t step, std::size_t wiring) const;
    /// alpha + hops * hop + load * bytes * byte; infinite where a message cannot get there.
    double seconds(std::size_t step, std::size_t wiring, const RewiringCosts& costs,
                   double bytes) const;
    /// All steps on the torus as it is.
    double static_seconds(const RewiringCosts& costs, double bytes) const;
    WiringSequence optimum(const RewiringCosts& costs, double bytes) const;
    /// Steps and dimensions whose own circuits cannot be made.
    const std::vector<Unwirable>& unwirable() const { return unwirable_; }

  private:
    std::size_t candidate(std::size_t wiring, int dimension) const {
        return wiring / places_[dimension] % candidates_[dimension].size();
    }
    void add_candidates(int dimension, const RewiringOptions& options);
    void work_out_loads();
    std::vector<int> crossing_hops(const StepLegs& step) const;

    Torus torus_;
    std::vector<StepLegs> steps_;
    std::vector<std::vector<DimensionWiring>> candidates_;  ///< by dimension; the ring first
    std::vector<std::size_t> places_;                       ///< by dimension: how fast it varies
    std::size_t wirings_ = 1;
    /// By step, dimension and candidate.
    std::vector<std::vector<std::vector<WiringLoad>>> loads_;
    /// By step and wiring, of steps whose messages cross several dimensions: hops of the longest.
    std::vector<std::vector<int>> crossing_hops_;
    std::vector<Unwirable> unwirable_;
};

}  // namespace trefoil
