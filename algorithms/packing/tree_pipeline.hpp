// SPDX-License-Identifier: BSD-3-Clause
// Schedules of bcast, reduce and allreduce along packed trees, one rank at a time.
#pragma once

#include <vector>

#include "algorithms/packing/trees.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// One part per tree, cut into pieces; in a step a piece goes one link further. It knows where all
/// ranks are in all trees, and so builds the schedule of any rank without those of the others.
class TreePipeline {
  public:
    /// The packing has trees, and outlives it.
    TreePipeline(const Packing& packing, Collective collective);

    /// `pieces` 0: a default.
    Schedule build(Rank rank, Block pieces) const;

  private:
    /// One rank's place in a tree. Ports are those of the way down.
    struct Place {
        int depth = 0;
        int height = 0;  ///< of the tree below
        int entry = -1;
        std::vector<int> children;  ///< links to them
    };
    static std::vector<Place> places(const Packing& packing, const PackedTree& tree);
    void message(ScheduleWriter& writer, int link, int piece, int pieces, bool sends,
                 bool goes_up) const;

    const Packing& packing_;
    bool goes_up_, goes_down_;
    int highest_ = 0;
    std::vector<std::vector<Place>> places_;  ///< by tree and rank
};

}  // namespace trefoil
