// SPDX-License-Identifier: BSD-3-Clause
// A ring of any size folded onto a power of two, so that butterflies run on it.
#pragma once

#include "topo/torus.hpp"

namespace trefoil {

/// A ring of `size` coordinates cut into `groups()` runs of one to three neighbours, as even as
/// possible; groups() is a power of two. One coordinate of a run, its centre, exchanges for all:
///
///     0   1   2   3   4   5   6   7   8   9        10 coordinates, 4 groups
///     o-->*<--o   *<--o   o-->*<--o   *<--o        fold: members hand their data to the centre
///         0       1           2       3            centres exchange as a ring of 4
///     o<--*-->o   *-->o   o<--*-->o   *-->o        restore
///
/// Both neighbours of a centre fold in the same step, because each arrives through a port of its
/// own. So groups() is the smallest power of two >= size/3, and an allreduce takes
/// log2(groups()) + 2 steps. Sizes that are powers of two are not folded and take log2(size).
class FoldedRing {
  public:
    /// largest: 3, or 2 for groups of one or two neighbours (first in its group: the centre); then
    /// groups() is the largest power of two <= size.
    explicit FoldedRing(Rank size, int largest = 3);

    Rank size() const { return size_; }
    Rank groups() const { return groups_; }
    bool folded() const { return groups_ < size_; }
    /// Steps of an allreduce: fold, exchanges, restore.
    int steps() const;
    bool is_fold(int step) const { return folded() && step == 0; }
    bool is_restore(int step) const { return folded() && step == steps() - 1; }
    /// Which exchange a step is that neither folds nor restores.
    int exchange(int step) const { return folded() ? step - 1 : step; }

    Rank group_of(Rank coordinate) const;
    Rank first(Rank group) const;  ///< the group's members are [first(group), first(group + 1))
    Rank centre(Rank group) const;
    bool is_centre(Rank coordinate) const { return centre(group_of(coordinate)) == coordinate; }

    /// The coordinate that a mirrored part puts in this one's place; an involution. x -> -x on a
    /// ring that is not folded. On a folded one the mirrored groups lie one coordinate before the
    /// plain ones, so that no link carries a member's data of both, unless mirrored_about() says
    /// otherwise.
    Rank reflected(Rank coordinate) const;
    /// The c to whose place coordinate 0 is reflected; x goes to c - x.
    Rank reflection() const { return reflected(0); }
    /// The same ring with that c.
    FoldedRing mirrored_about(Rank reflection) const;

  private:
    Rank size_;
    Rank groups_;
    Rank start_;  // where the cut below begins, so that group 0 starts at coordinate 0
    Rank reflection_ = 0;
};

}  // namespace trefoil
