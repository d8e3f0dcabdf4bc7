// SPDX-License-Identifier: BSD-3-Clause
// Before which steps of a schedule the copies stand that are made late.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "comm/plan/late_copies.hpp"
#include "comm/plan/part_runs.hpp"

namespace trefoil {

/// Told the steps of each part in their order. What it adds are operations of the step.
class StepCopies {
  public:
    /// `copies`: what would be made before the first step, where that pays (pays()); else nothing.
    StepCopies(const Schedule& schedule, const std::vector<Transfer>& copies)
        : schedule_(schedule), late_(copies) {}

    /// `copies` are long enough, and nobody else reads what has been copied.
    static bool pays(const Schedule& schedule, const VectorMap& map,
                     const std::vector<Transfer>& copies);

    void begin_part(const PartRuns& runs);
    void before_moves(const PartRuns& runs, const Step& step, std::vector<ProgramOp>& ops);
    void before_sends(const PartRuns& runs, const Step& step, std::vector<ProgramOp>& ops);
    /// `ops`, which work on what a step has received, with their copies.
    std::vector<ProgramOp> with_copies(std::vector<ProgramOp> ops, std::size_t element_bytes) {
        return late_.with_copies(std::move(ops), element_bytes);
    }
    /// `runs`, from where they can be read now.
    std::vector<Run> sources(std::vector<Run> runs) const;
    /// After all parts: what of `wanted` nobody has touched. False: there are no such copies.
    bool add_rest(const std::vector<Run>& wanted, std::vector<ProgramOp>& ops);

  private:
    std::vector<Transfer> worked_on(const PartRuns& runs) const;

    const Schedule& schedule_;
    LateCopies late_, worked_on_;  ///< of all parts, and of the part alone
};

}  // namespace trefoil
