// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter on a ring folded onto a power of two.
#pragma once

#include <vector>

#include "algorithms/rings/folded_ring.hpp"
#include "algorithms/rings/halving_ring.hpp"
#include "algorithms/rings/ring_scatter.hpp"

namespace trefoil {

/// Groups of neighbours (FoldedRing) hand all they have to their centres; the centres, 2^k of them,
/// halve with the partners of `core` the blocks of whole groups; at last a centre gives each member
/// its block. A member holds nothing in between. Powers of two are not folded.
///
/// Without the last step the centre keeps its group's blocks: enough, and shorter, for a
/// reduce-scatter that an allgather follows.
class FoldScatter final : public RingScatter {
  public:
    /// FoldedRing(size, largest). brings_home: with the last step.
    FoldScatter(Rank size, int largest, bool brings_home, Halving core = Halving::swing);

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    std::vector<Extent> held(Rank coordinate, int step) const override;
    void cut(Extent cell, int step, std::vector<Block>& sizes) const override;

    const FoldedRing& ring() const { return ring_; }

  private:
    bool is_home(int step) const { return ring_.folded() && step > core_.steps(); }
    /// Group positions as positions: groups in the order of the core, members in their order.
    Extent spread(Extent groups) const;
    Extent own(Rank coordinate) const;
    void exchange(Rank coordinate, const std::vector<RingTransfer>& transfers,
                  std::vector<RingTransfer>& out, int side) const;

    FoldedRing ring_;
    HalvingRing core_;
    std::vector<Block> begins_;  // by group position, and the end
};

}  // namespace trefoil
