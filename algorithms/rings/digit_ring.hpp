// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter on a ring of any size along the digits of offsets: Bruck's and Sparbit's pattern.
#pragma once

#include "algorithms/rings/ring_scatter.hpp"

namespace trefoil {

/// Block r + o, seen from coordinate r, travels along the digits of the offset o, 0 <= o < size,
/// the lowest first: in step k, if digit k is e > 0, to r + e radix^k, which leaves the offset
/// o - e radix^k. So before step k a coordinate holds the offsets that are multiples of radix^k.
/// ceil(log size) steps to the base of the radix, radix - 1 messages in each, (size-1)/size of the
/// vector sent by everyone.
///
/// On powers of the radix a position is the reversal of its owner's digits, and messages are one
/// extent; otherwise it is the owner's coordinate.
class DigitRing final : public RingScatter {
  public:
    DigitRing(Rank size, Rank radix);

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    std::vector<Extent> held(Rank coordinate, int step) const override;

  private:
    /// radix^step
    Rank stride(int step) const;
    Block position(Rank coordinate) const;
    /// The positions of coordinate + first, + first + stride, ..., as long as offsets are < size.
    std::vector<Extent> positions(Rank coordinate, Rank first, Rank stride) const;

    Rank radix_;
    bool is_power_;
};

}  // namespace trefoil
