// SPDX-License-Identifier: BSD-3-Clause
// Into how many pieces to cut what a pipeline carries; see the header for the formula.
#include "algorithms/analysis/pipeline_pieces.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trefoil {

double PipelineCut::steps(int fill) const {
    const double all = static_cast<double>(pieces) * segments;
    const double ends = (all + static_cast<double>(fill) * segments) / segments_at_once;
    return fill + (returns && segments > segments_at_once ? std::max(all, ends) : all);
}

Block best_pieces(const CostModel& model, int fill, double link_bytes, double messages,
                  Block segments, bool returns) {
    const double per_step = model.alpha + model.tau;
    const double transfer = model.beta * link_bytes;
    const double per_piece = messages * (model.message + model.busiest + model.wait);
    const auto time = [&](Block pieces) {
        const double all = static_cast<double>(pieces) * segments;
        return PipelineCut{pieces, segments, returns}.steps(fill) * (per_step + transfer / all) +
               all * per_piece;
    };
    if (fill <= 0 || !(transfer > 0)) {
        return 1;
    }
    // Infinite if neither costs anything.
    const double ideal = std::sqrt(fill * transfer / (per_step + per_piece));
    const Block most = std::max<Block>(1, std::bit_floor(most_pieces / segments));
    const auto bounded = static_cast<Block>(std::clamp<double>(ideal / segments, 1, most));
    Block best = std::bit_floor(bounded);
    while (2 * best <= most && time(2 * best) < time(best)) {
        best *= 2;
    }
    return best;
}

CostSummary with_pieces(const CostSummary& one_piece, const PipelineCut& cut) {
    CostSummary cost = one_piece;
    const auto most = [](const auto& list) { return list.empty() ? 0 : std::ranges::max(list); };
    const Block pieces = cut.pieces * cut.segments;
    if (one_piece.steps > 0) {
        cost.steps = static_cast<int>(std::lround(cut.steps(one_piece.steps - 1)));
    }
    cost.sum_hops +=
        static_cast<long>(cost.steps - one_piece.steps) * most(one_piece.step_max_hops);
    // Pieces are in all steps at the same time.
    const double of_piece =
        std::max<double>(most(one_piece.step_max_link_load), one_piece.busiest_link);
    cost.sum_link_load = cost.steps * of_piece / pieces;
    if (one_piece.steps > 0) {
        cost.inside_beside_links *= static_cast<double>(cost.steps) / pieces / one_piece.steps;
    }
    cost.steady = true;
    cost.messages *= pieces;
    cost.forwards *= pieces;
    cost.messages_per_rank *= static_cast<int>(pieces);
    cost.waits *= pieces;
    cost.step_max_link_load.clear();
    cost.step_max_hops.clear();
    return cost;
}

}  // namespace trefoil
