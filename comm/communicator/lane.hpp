// SPDX-License-Identifier: BSD-3-Clause
// A lane of a communicator: calls that start in order among themselves.
#pragma once

#include <cstdint>

#include "comm/communicator/planner.hpp"
#include "comm/communicator/schedules.hpp"
#include "comm/derived/geometry.hpp"
#include "comm/plan/segments.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/executor.hpp"

namespace trefoil {

/// A communicator has two: small calls do not wait for large ones. A lane has an executor of its
/// own, and channels with landing slots that suit it. It is made when a call first needs it, on
/// each rank by itself.
class Lane {
  public:
    /// `channels`: what is the same in all lanes; without groups' ends. All but `limits` and
    /// `options` outlive this.
    Lane(const Geometry& geometry, Engine& engine, const ChannelTerms& terms,
         const SegmentLimits& limits, ExecutorOptions options)
        : channels_(engine.groups(), terms),
          executor_(channels_, engine, std::move(options)),
          schedules_(geometry, channels_),
          planner_(geometry.map, limits, channels_, schedules_, executor_) {}

    const Channels& channels() const { return channels_; }
    Executor& executor() { return executor_; }
    const Executor& executor() const { return executor_; }
    Planner& planner() { return planner_; }

  private:
    Channels channels_;
    Executor executor_;
    Schedules schedules_;
    Planner planner_;
};

}  // namespace trefoil
