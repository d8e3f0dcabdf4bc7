// SPDX-License-Identifier: BSD-3-Clause
// Into how many pieces to cut what a pipeline carries.
#pragma once

#include "algorithms/analysis/cost.hpp"

namespace trefoil {

/// Into how many pieces to cut each of `segments` segments that follow one another and are one
/// pipeline: the power of two with which its fill + pieces steps are fastest, at least 1, and at
/// most most_pieces in all segments together. `link_bytes` cross each link in all, a piece per
/// step, between neighbours, and each piece is `messages` messages of a rank that one of its peers
/// waits for. With `pieces` those of all segments:
///
///     T(pieces) = (fill + pieces) (alpha + tau + beta link_bytes / pieces)
///                 + pieces messages (message + busiest + wait)
///
/// T is convex with its minimum at sqrt(fill beta link_bytes / (alpha + tau + messages (message +
/// busiest + wait))), so that one of the two powers of two around a segment's share of it is the
/// best. Pure; the same on all ranks that give the same values.
Block best_pieces(const CostModel& model, int fill, double link_bytes, double messages,
                  Block segments = 1);

/// What a pipeline costs with `pieces` pieces, told by what it costs with one: each further piece
/// is a further step, and each step carries one of them. Exact where all steps load the links
/// alike, an upper bound elsewhere. Only the totals; the lists by step are left empty.
CostSummary with_pieces(const CostSummary& one_piece, Block pieces);

}  // namespace trefoil
