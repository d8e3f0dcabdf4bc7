// SPDX-License-Identifier: BSD-3-Clause
// Into how many pieces to cut what a pipeline carries.
#pragma once

#include "algorithms/analysis/cost.hpp"

namespace trefoil {

/// The power of two, from 1 to most_pieces, with which a pipeline of fill + pieces steps is
/// fastest, when `link_bytes` in all cross each link, a piece per step, between neighbours, and
/// each piece is `messages` messages of a rank that one of its peers waits for:
///
///     T(pieces) = (fill + pieces) (alpha + tau + beta link_bytes / pieces)
///                 + pieces messages (message + busiest + wait)
///
/// T is convex with its minimum at sqrt(fill beta link_bytes / (alpha + tau + messages (message +
/// busiest + wait))), so that one of the two powers of two around it is the best. Pure; the same on
/// all ranks that give the same values.
Block best_pieces(const CostModel& model, int fill, double link_bytes, double messages);

/// What a pipeline costs with `pieces` pieces, told by what it costs with one: each further piece
/// is a further step, and each step carries one of them. Exact where all steps load the links
/// alike, an upper bound elsewhere. Only the totals; the lists by step are left empty.
CostSummary with_pieces(const CostSummary& one_piece, Block pieces);

}  // namespace trefoil
