// SPDX-License-Identifier: BSD-3-Clause
// The alltoall on a ring by the signed digits of the distance, and direct as its limit.
#pragma once

#include "algorithms/alltoall/ring_alltoall.hpp"

namespace trefoil {

/// A pair at distance a = 1 ... n/2 (sign: the shorter way; a tie goes up from even sources, else
/// down) moves in step k by sign * v * radix^k, where v is digit k of a; it rests where v is 0.
/// ceil(log_radix ceil(n/2)) steps, at least one: the last digit is all that is left of a, so that
/// n/2 itself does not take a step more.
class SignedDigitRing final : public RingAlltoall {
  public:
    /// radix >= 2; from size / 2 + 1 on a pair goes straight to its target, in one step. At least
    /// `steps`, as long as there are distances for a digit more: then the largest ones have theirs
    /// alone.
    SignedDigitRing(Rank size, int radix, int steps = 0);

    std::vector<RingHandover> sends(Rank coordinate, int step) const override {
        return handovers(coordinate, step, false);
    }
    std::vector<RingHandover> receives(Rank coordinate, int step) const override {
        return handovers(coordinate, step, true);
    }
    std::vector<RingTraffic> traffic() const override;

  private:
    Rank digit(Rank distance, int step) const;
    /// The last step before `step` in which pairs at `distance` moved; -1: none.
    int last_move(Rank distance, int step) const;
    std::vector<RingHandover> handovers(Rank coordinate, int step, bool arriving) const;

    std::vector<Rank> weights_;  // radix^step
};

}  // namespace trefoil
