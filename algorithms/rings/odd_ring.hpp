// SPDX-License-Identifier: BSD-3-Clause
// A ring reduce-scatter for one coordinate more than a core has, in the same number of steps.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/rings/ring_scatter.hpp"

namespace trefoil {

/// The extra coordinate, the last one, joins a core in which all that is held before a step is one
/// cell and every step cuts cells in (at most) two, down to one block per coordinate.
///
/// In each step but the last the extra coordinate hands half of what it still holds over to the
/// nearest one that keeps that half; the halves that it keeps lead down to the last cell, of one or
/// two blocks. Its own block lies at the end of that cell and is reduced along with it. In the last
/// step the cell's coordinates send it its block and get theirs. Volume: (size-1)/size.
///
///     extra   | hands over in step 0 | in step 1    | last cell | its own block |
class OddRing final : public RingScatter {
  public:
    explicit OddRing(std::shared_ptr<const RingScatter> core);

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    std::vector<Extent> held(Rank coordinate, int step) const override;
    void cut(Extent cell, int step, std::vector<Block>& sizes) const override;

  private:
    struct Handover {
        Rank to = 0;
        Extent cell;  ///< in the core's positions; empty: nothing is handed over in this step
    };

    Rank extra() const { return size() - 1; }
    bool last(int step) const { return step == steps() - 1; }
    /// A core cell that is held before `step`, with the extra coordinate's block if it belongs to
    /// it.
    Extent with_extra(Extent cell, int step) const;
    bool contains_last_cell(Extent cell) const {
        return cell.first <= last_cell_.first &&
               cell.first + cell.count >= last_cell_.first + last_cell_.count;
    }
    Extent extra_block() const { return {last_cell_.first + last_cell_.count, 1}; }
    Extent core_cell(Rank coordinate, int step) const { return core_->held(coordinate, step)[0]; }
    void widen(int step, RingTransfer& transfer) const;
    Handover choose_handover(Extent cell, int step) const;

    std::shared_ptr<const RingScatter> core_;
    std::vector<Handover> handovers_;  ///< of all steps but the last
    std::vector<Extent> extra_cells_;  ///< what it holds before each step, core positions
    std::vector<Rank> last_owners_;    ///< the coordinates of the last cell
    Extent last_cell_;
};

}  // namespace trefoil
