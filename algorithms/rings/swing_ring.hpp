// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter on a ring with Swing's partners: on rings whose size is not a power of two, and
// with the distances in the opposite order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/rings/binary_cells.hpp"
#include "algorithms/rings/ring_scatter.hpp"

namespace trefoil {

/// Swing on an even ring of m = size coordinates, or m = size + 1 of which the last one is absent.
///
/// T(c, s) is what c reaches from step s on: T(c, S) = {c}, T(c, s) = T(c, s+1) u T(partner, s+1).
/// Before step s, c holds the blocks T(c, s). In step s it sends T(partner, s+1) minus T(c, s+1):
/// what both keep is not exchanged, so each block is sent once by everyone who does not own it.
///
/// A coordinate x whose partner in step s is the absent one, v, sends what v would get to v's
/// partner y of step s+1: T(y, s+1) = T(v, s+1). So v is missed by nobody, and in the last step its
/// own block, which does not exist, is not sent.
///
/// The sets overlap, so they are no cells. Distances that grow: blocks are numbered in the order in
/// which T(0, 0) unfolds from left to right, which keeps most sets to few extents (one for 3 * 2^k,
/// 22 for 126). Distances that shrink: all sets are runs of neighbours around the ring; blocks keep
/// the order of their coordinates, and a message is at most two extents (De Sensi et al., Bine
/// trees, SC 2025, section 4: distance-halving butterfly).
class SwingRing final : public RingScatter {
  public:
    enum class Distance : std::uint8_t { doubling, halving };

    explicit SwingRing(Rank size, Distance distance = Distance::doubling);

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override;
    std::vector<Extent> held(Rank coordinate, int step) const override;
    void messages(int step, std::vector<RingMessage>& out) const override;
    void amounts(int step, std::vector<std::int64_t>& out) const override;
    void cut(Extent cell, int step, std::vector<Block>& sizes) const override;

  private:
    Rank base() const { return size() + size() % 2; }
    /// How far and which way even coordinates find their partners.
    std::int64_t offset(int step) const;
    Rank partner(Rank coordinate, int step) const;
    /// Whom `coordinate` sends to, if anybody, and for whom: its partner, who may be absent.
    struct Target {
        Rank peer, keeps;
    };
    std::optional<Target> target(Rank coordinate, int step) const;
    /// By coordinate: 1 where the absent one is in T(coordinate, step).
    std::vector<char> reaching_absent(int step) const;
    void number_blocks();
    /// A bit for each position.
    using Positions = std::vector<std::uint64_t>;
    Positions none() const { return Positions((static_cast<std::size_t>(size()) + 63) / 64); }
    /// Marks T(coordinate, step) with `value`.
    void mark(Rank coordinate, int step, bool value, Positions& positions) const;
    /// T(keeps, step+1) minus T(sender, step+1).
    std::vector<Extent> handed_over(Rank sender, Rank keeps, int step) const;
    void transfer(Rank peer, Rank sender, Rank receiver, std::vector<Extent> positions,
                  std::vector<RingTransfer>& out) const;

    Distance distance_;
    std::vector<std::vector<Rank>>
        reach_;  ///< T(0, s); T(c, s) is c + it for even c, c - it for odd
    BinaryCells cells_;
    std::vector<Block> position_;  ///< of the block of each coordinate
};

}  // namespace trefoil
