// SPDX-License-Identifier: BSD-3-Clause
// A reduce-scatter on one ring as data: the piece from which the bandwidth algorithms of all tori
// are composed (algorithms/bandwidth/product.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/schedule/product_flows.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// One message of a ring step. Positions are ring-block positions in [0, size), as extents.
struct RingTransfer {
    Rank peer = 0;  ///< coordinate of the other end
    int sign = 1;   ///< the way the message travels: +1 towards larger coordinates
    std::vector<Extent> positions;
    /// Complete sums on their way to their owner. What the owner holds at these positions is not
    /// needed: it has sent its contributions away before.
    bool replaces = false;
};

/// The sense of the shorter way round from one coordinate to another; +1 where both are equal.
int shorter_way(Rank from, Rank to, Rank size);

/// The ring has `size` coordinates and `size` ring-blocks. At the end each coordinate owns one
/// ring-block, completely reduced. Which one is the primitive's choice: it numbers blocks by
/// *position* so that messages are few extents. Objects are immutable and thread-safe.
class RingScatter {
  public:
    RingScatter(Rank size, int steps, std::vector<Rank> digits)
        : size_(size), steps_(steps), digits_(std::move(digits)) {}
    virtual ~RingScatter() = default;

    Rank size() const { return size_; }
    int steps() const { return steps_; }

    /// Radices of a position, most significant first; their product is size(). Either one digit per
    /// step, such that what is held before step s has its first s digits fixed and the rest free
    /// (then every message on every torus is one extent), or the single digit {size}.
    const std::vector<Rank>& digits() const { return digits_; }

    /// Appends what `coordinate` sends (partial sums) in `step`.
    virtual void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const = 0;
    /// Appends what `coordinate` receives and reduces in `step`; `sign` is the way it travels, i.e.
    /// it arrives through the port of -sign.
    virtual void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const = 0;
    /// The positions for which `coordinate` is still responsible before `step`: everything before
    /// step 0, what it owns at step == steps(). Ascending, disjoint extents.
    virtual std::vector<Extent> held(Rank coordinate, int step) const = 0;

    // Of all coordinates, without saying which blocks: RingFlow's. By default what sends() and
    // held() say is counted.
    virtual void messages(int step, std::vector<RingMessage>& out) const;
    virtual void amounts(int step, std::vector<std::int64_t>& out) const;

    /// Appends the sizes into which `step` cuts `cell`; their sum is cell.count. Before step 0 all
    /// positions are one cell. Blocks of a torus are numbered by these cuts: a message is one
    /// extent where what is sent and held are cells. By default cells are cut as digits() say; a
    /// ring whose cells are not alike overrides this.
    virtual void cut(Extent cell, int step, std::vector<Block>& sizes) const;

  private:
    Rank size_;
    int steps_;
    std::vector<Rank> digits_;
};

/// The ring seen in a mirror (x -> centre - x, 0 <= centre < size): coordinates and signs
/// reflected, positions kept.
std::shared_ptr<const RingScatter> mirrored(std::shared_ptr<const RingScatter> ring,
                                            Rank centre = 0);

}  // namespace trefoil
