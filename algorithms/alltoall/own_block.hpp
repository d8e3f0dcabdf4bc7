// SPDX-License-Identifier: BSD-3-Clause
// What a rank sends to itself in an alltoall: a copy like any other.
#pragma once

#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// Begins a step of the part that was begun last; its first one copies this rank's own block.
class OwnBlock {
  public:
    OwnBlock(Rank rank, Rank ranks)
        : from_{static_cast<Block>(rank), 1}, to_(static_cast<Block>(ranks + rank)) {}

    void step(ScheduleWriter& writer) {
        writer.step();
        if (!copied_) {
            writer.move(Action::replace, from_, to_);
            copied_ = true;
        }
    }
    /// After the part's last step: a single rank has no other.
    void finish(ScheduleWriter& writer) {
        if (!copied_) {
            step(writer);
        }
    }

  private:
    Extent from_;
    Block to_;
    bool copied_ = false;
};

}  // namespace trefoil
