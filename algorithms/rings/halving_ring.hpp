// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter on a ring by halving between pairs: the core of Swing and of recursive doubling.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/rings/binary_cells.hpp"
#include "algorithms/rings/ring_scatter.hpp"

namespace trefoil {

/// Who exchanges with whom in step s among 2^S coordinates. All three are involutions.
enum class Halving : std::uint8_t {
    swing,             ///< c + rho(s) for even c, c - rho(s) for odd c
    doubling,          ///< c + 2^s where bit s of c is clear, c - 2^s where it is set
    doubling_mirrored  ///< c - 2^s where bit s of c is clear, c + 2^s where it is set
};

/// Distance and sense of Swing's step: rho(s) = (1 - (-2)^(s+1)) / 3 = 1, -1, 3, -5, 11, ...
std::int64_t swing_distance(int step);

/// The smallest S with 2^S >= size.
int halving_steps(Rank size);

/// Coordinates 0 .. size-1 of a ring of 2^S, S = halving_steps(size); the others are absent.
///
/// Before step s those that can still reach each other form a group that shares one cell of blocks,
/// its own members' blocks. A step cuts the group in two; everybody sends the other half's blocks
/// to its partner there and keeps its own half's:
///
///     position    0   1   2   3   4   5   6   7
///     step 0      |<- kept by x ->|<- sent to x's partner ->|
///     step 1      |<-   ->|<-   ->|
///
/// Where the partner is absent, its nearest group member stands in. So each coordinate sends at
/// most one message in a step, each message is one cell, and each block is sent once by everyone
/// who does not own it: (size-1)/size of the vector per rank. (In the allgather, which is the
/// reverse, those who stand in send more than others.)
class HalvingRing final : public RingScatter {
  public:
    /// doubling_mirrored: only for powers of two.
    HalvingRing(Halving pattern, Rank size);

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    std::vector<Extent> held(Rank coordinate, int step) const override;
    void messages(int step, std::vector<RingMessage>& out) const override;
    void amounts(int step, std::vector<std::int64_t>& out) const override;
    void cut(Extent cell, int step, std::vector<Block>& sizes) const override {
        cells_.cut(cell, step, sizes);
    }

  private:
    Rank partner(Rank coordinate, int step) const;
    /// Position of a present or absent coordinate among all 2^S: first step = most significant bit.
    Block place(Rank coordinate) const;
    /// The blocks of the group to which `coordinate` belongs before `step`.
    Extent cell(Rank coordinate, int step) const { return cells_.cell(place(coordinate), step); }
    /// Where `coordinate` sends in `step`; itself when the other half of its group is absent.
    Rank target(Rank coordinate, int step) const;
    int sign(Rank from, Rank to) const;

    Halving pattern_;
    BinaryCells cells_;
};

}  // namespace trefoil
