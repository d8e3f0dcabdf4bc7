// SPDX-License-Identifier: BSD-3-Clause
// Into how many pieces to cut what a pipeline carries.
#pragma once

#include "algorithms/analysis/cost.hpp"

namespace trefoil {

/// How a pipeline's vector is cut. Segments follow one another, two at a time.
struct PipelineCut {
    Block pieces = 1;  ///< of each segment
    Block segments = 1;
    /// The last piece of a segment comes back to where it began, as in an allreduce: the segment
    /// ends then, and only then the next but one begins.
    bool returns = false;

    /// Steps in all, one piece each, where the first piece takes `fill` more than one: segments are
    /// one pipeline, but of those that return each takes at least half of its fill + pieces steps.
    double steps(int fill) const;
};
/// So many segments of a call run at a time.
inline constexpr Block segments_at_once = 2;

/// Into how many pieces to cut each of `segments` segments: the power of two with which all is
/// fastest, at least 1, and at most most_pieces in all segments together. `link_bytes` cross each
/// link in all, a piece per step, between neighbours, and each piece is `messages` messages of a
/// rank that one of its peers waits for. With `pieces` those of all segments:
///
///     T(pieces) = PipelineCut::steps (alpha + tau + beta link_bytes / pieces)
///                 + pieces messages (message + busiest + wait)
///
/// Where nothing returns, steps are fill + pieces, and T is least at sqrt(fill beta link_bytes /
/// (alpha + tau + messages (message + busiest + wait))); elsewhere not before. Pure; the same on
/// all ranks that give the same values.
Block best_pieces(const CostModel& model, int fill, double link_bytes, double messages,
                  Block segments = 1, bool returns = false);

/// What a pipeline costs when it is cut so, told by what it costs in one piece: a piece takes as
/// long as the longest step. Exact where all steps load the links alike and nothing returns, an
/// upper bound elsewhere. Only the totals; the lists by step are left empty.
CostSummary with_pieces(const CostSummary& one_piece, const PipelineCut& cut);

}  // namespace trefoil
