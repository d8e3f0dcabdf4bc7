// SPDX-License-Identifier: BSD-3-Clause
// Plans of Trivance's latency variant on one ring: which partial sums travel how far in each step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// Every coordinate of the ring follows the same plan, so it is told in offsets: the coordinate
/// itself is offset 0, its right neighbour (coordinate + 1) offset 1. A coordinate knows the sum of
/// some offsets, its *window*, made of *pieces*: piece 0 is its own contribution, pieces 1, 2, ...
/// are what arrived, in this order. A *run* is a choice of pieces; its sum can be kept in an
/// accumulator.
///
///        piece        4      2   0   1      3
///        offsets   [-4,-2] [-1] [0] [1]   [2,4]        n = 9 after two steps
///
/// A transfer adds the run of another coordinate to the window. Windows and runs never overlap, so
/// no contribution is counted twice, and widths add up to exactly n, whatever n is.
struct RunTransfer {
    int side =
        1;  ///< +1: the run of a coordinate on the right, it travels to the left; -1: mirrored
    std::uint64_t pieces = 1;  ///< the run: bit i is piece i of the sender
    Rank width = 0;            ///< offsets in the run
    Rank distance = 0;         ///< > 0: how far it travels
};

struct TrivancePattern {
    Rank size = 1;
    /// ceil(log3(size)) steps of one or two transfers; what they add are pieces 1, 2, ... in the
    /// order of the transfers.
    std::vector<std::vector<RunTransfer>> steps;
};

/// ceil(log3(size)): the fewest steps in which two messages per step can inform a ring.
int trivance_steps(Rank size);

/// The largest load of a link in `step` on a ring of `size`, in vectors. What travels half the ring
/// goes half each way round.
double run_step_load(const std::vector<RunTransfer>& step, Rank size);

/// The plan of least total load that bounded searches find; among those of equal load one with
/// little accumulator work. Powers of three: whole windows over distances 1, 3, 9, ... Twice an odd
/// size: windows of half the ring, the last from straight across, in one step more.
/// Deterministic, so that all ranks agree. Plans are kept; thread-safe.
std::shared_ptr<const TrivancePattern> trivance_pattern(Rank size);

/// The plan of least load with contiguous windows that the search finds.
TrivancePattern contiguous_pattern(Rank size);

/// A plan of a load below `bound` (and at least n/2, less is impossible) in which windows are
/// clusters spread around the ring: a far step comes before a near one that fills the gaps. Just
/// below powers of three, where contiguous windows do not fit, it halves the load. Sizes up to 81.
std::optional<TrivancePattern> spread_pattern(Rank size, Rank bound);

/// The plan that exists for every size, for what the search does not find within its bounds:
/// windows of ceil(n / 3^i) offsets that grow on the right only, so that the own contribution stays
/// outermost and can be left out. Two messages per step leave through the same port.
TrivancePattern one_sided_pattern(Rank size);

/// An accumulator that an arriving message also goes to: the sum of a run that is no longer, or
/// never was, the whole window.
struct RunTarget {
    int accumulator = 0;
    bool replace = false;  ///< the run's first content
};

/// A transfer as a rank executes it. Buffer 0 is the window, buffer 1 + i accumulator i.
struct RunMessage {
    int side = 1;
    Rank distance = 0;
    int source = 0;                  ///< buffer that is sent
    std::vector<RunTarget> targets;  ///< accumulators to which what arrives is added, too
};

struct BufferedPattern {
    struct Step {
        std::vector<int> copies;  ///< accumulators that start as a copy of the window
        std::vector<RunMessage> messages;
    };
    Rank size = 1;
    int accumulators = 0;
    std::vector<Step> steps;
};

/// The plan with its accumulators worked out: each is filled from a copy of the window at the last
/// moment when the window is a part of the run, and from the pieces that arrive later.
BufferedPattern buffered_pattern(const TrivancePattern& plan);

/// buffered_pattern(trivance_pattern(size)), kept; thread-safe.
std::shared_ptr<const BufferedPattern> buffered_pattern(Rank size);

}  // namespace trefoil
