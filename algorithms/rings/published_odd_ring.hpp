// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter on a ring of odd size as Swing's authors publish it.
#pragma once

#include <vector>

#include "algorithms/rings/ring_scatter.hpp"

namespace trefoil {

/// The extra coordinate, the last one, joins a core in which every coordinate ends with one block.
/// It hands nothing over: in each step it exchanges single blocks, each with its owner, with half
/// (rounded up) of the coordinates that it has not met yet, and with all of them in the last step.
/// It meets them in ascending or in descending order. So half of its messages leave in the first
/// step, to one side; the volume is (size-1)/size, but links near it carry more than elsewhere. De
/// Sensi et al., Swing, NSDI 2024, section 3.
class PublishedOddRing final : public RingScatter {
  public:
    enum class Order : std::uint8_t { ascending, descending };

    /// The core's size is even.
    PublishedOddRing(std::shared_ptr<const RingScatter> core, Order order);

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    std::vector<Extent> held(Rank coordinate, int step) const override;

  private:
    Rank extra() const { return size() - 1; }
    Extent extra_block() const { return {static_cast<Block>(extra()), 1}; }
    /// The block of a coordinate of the core.
    Extent own_block(Rank coordinate) const { return core_->held(coordinate, steps())[0]; }
    /// When the extra coordinate meets this one of the core.
    int meeting(Rank coordinate) const;
    /// Coordinates [met(step), met(step + 1)) of its list meet it in `step`.
    Rank listed(Rank index) const {
        return order_ == Order::ascending ? index : core_->size() - 1 - index;
    }
    /// The extra coordinate's messages of `step`; `leaving`: those that it sends.
    void meetings(int step, bool leaving, std::vector<RingTransfer>& out) const;
    /// Ways of the core, on a ring that is longer by one.
    void correct_ways(std::size_t from, Rank coordinate, bool leaving,
                      std::vector<RingTransfer>& out) const;

    std::shared_ptr<const RingScatter> core_;
    Order order_;
    std::vector<Rank> met_;  ///< before each step, and after the last one
};

}  // namespace trefoil
