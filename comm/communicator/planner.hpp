// SPDX-License-Identifier: BSD-3-Clause
// From a call and its complete choice to a plan.
#pragma once

#include <memory>
#include <string>

#include "comm/communicator/schedules.hpp"
#include "comm/plan/chooser.hpp"
#include "comm/plan/plan.hpp"
#include "comm/plan/program_pool.hpp"
#include "comm/plan/segments.hpp"
#include "comm/setup/torus_map.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/executor.hpp"

namespace trefoil {

/// Invariant: a plan follows from the request and the choice alone; nothing is chosen here. All
/// ranks plan the same calls in the same order.
class Planner {
  public:
    /// All but `limits` outlive this.
    Planner(const TorusMap& map, const SegmentLimits& limits, Channels& channels,
            Schedules& schedules, ProgramPool& programs, Executor& executor)
        : map_(map),
          limits_(limits),
          channels_(channels),
          schedules_(schedules),
          programs_(programs),
          executor_(executor) {}

    /// Waits for nobody. Error(unsupported) is thrown on all ranks alike; any other error is this
    /// rank's own.
    std::unique_ptr<Plan> plan(const Request& request, const Choice& choice);

    /// Channels by which the receivers of the plan's messages can speak to their senders.
    void add_ways_back(const Plan& plan);

  private:
    void lower_segments(Plan& plan, const Request& request, const Choice& choice,
                        const Schedule& schedule);
    void add_program(Plan& plan, Program program);
    void tell_new_channels(std::size_t out, std::size_t in) const;

    const TorusMap& map_;
    SegmentLimits limits_;
    Channels& channels_;
    Schedules& schedules_;
    ProgramPool& programs_;
    Executor& executor_;
};

}  // namespace trefoil
