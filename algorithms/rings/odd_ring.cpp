// SPDX-License-Identifier: BSD-3-Clause
// What the extra coordinate hands over, and the core's cells widened by its block.
#include "algorithms/rings/odd_ring.hpp"

namespace trefoil {

OddRing::OddRing(std::shared_ptr<const RingScatter> core)
    : RingScatter(core->size() + 1, core->steps(), {core->size() + 1}), core_(std::move(core)) {
    Extent cell{0, static_cast<Block>(core_->size())};
    for (int step = 0; step < steps(); ++step) {
        extra_cells_.push_back(cell);
        if (last(step)) {
            break;
        }
        const Handover handover = choose_handover(cell, step);
        handovers_.push_back(handover);
        if (handover.cell.count > 0 && handover.cell.first == cell.first) {
            cell.first += handover.cell.count;
        }
        cell.count -= handover.cell.count;
    }
    last_cell_ = cell;
    for (Rank c = 0; c < core_->size(); ++c) {
        if (core_cell(c, steps() - 1) == last_cell_) {
            last_owners_.push_back(c);
        }
    }
}

OddRing::Handover OddRing::choose_handover(Extent cell, int step) const {
    // Coordinates by their distance from the extra one, both ways round.
    const Rank members = core_->size();
    for (Rank i = 0; i < members; ++i) {
        const Rank c = i % 2 == 0 ? i / 2 : members - 1 - i / 2;
        const Extent half = core_cell(c, step + 1);
        const bool inside =
            half.first >= cell.first && half.first + half.count <= cell.first + cell.count;
        if (inside) {
            return half.count < cell.count ? Handover{c, half} : Handover{};
        }
    }
    return {};
}

Extent OddRing::with_extra(Extent cell, int step) const {
    const bool shifted = cell.first >= extra_block().first;
    const bool widened = step < steps() && contains_last_cell(cell);
    return {cell.first + (shifted ? 1 : 0), cell.count + (widened ? 1 : 0)};
}

void OddRing::widen(int step, RingTransfer& transfer) const {
    for (Extent& e : transfer.positions) {
        e = with_extra(e, step + 1);
    }
}

void OddRing::sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    if (coordinate == extra()) {
        if (last(step)) {
            for (const Rank c : last_owners_) {
                out.push_back({c,
                               shorter_way(extra(), c, size()),
                               {with_extra(core_cell(c, steps()), steps())}});
            }
        } else if (handovers_[step].cell.count > 0) {
            const Handover& handover = handovers_[step];
            out.push_back({handover.to,
                           shorter_way(extra(), handover.to, size()),
                           {with_extra(handover.cell, step + 1)}});
        }
        return;
    }
    const std::size_t before = out.size();
    core_->sends(coordinate, step, out);
    for (std::size_t i = before; i < out.size(); ++i) {
        widen(step, out[i]);
        out[i].sign = shorter_way(coordinate, out[i].peer, size());
    }
    if (last(step) && core_cell(coordinate, step) == last_cell_) {
        out.push_back({extra(), shorter_way(coordinate, extra(), size()), {extra_block()}});
    }
}

void OddRing::receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    if (coordinate == extra()) {
        if (last(step)) {
            for (const Rank c : last_owners_) {
                out.push_back({c, shorter_way(c, extra(), size()), {extra_block()}});
            }
        }
        return;
    }
    const std::size_t before = out.size();
    core_->receives(coordinate, step, out);
    for (std::size_t i = before; i < out.size(); ++i) {
        widen(step, out[i]);
        out[i].sign = shorter_way(out[i].peer, coordinate, size());
    }
    const Extent kept = core_cell(coordinate, step + 1);
    const bool gets = last(step)
                          ? core_cell(coordinate, step) == last_cell_
                          : handovers_[step].cell.count > 0 && handovers_[step].to == coordinate;
    if (gets) {
        out.push_back(
            {extra(), shorter_way(extra(), coordinate, size()), {with_extra(kept, step + 1)}});
    }
}

std::vector<Extent> OddRing::held(Rank coordinate, int step) const {
    if (coordinate == extra()) {
        return {step == steps() ? extra_block() : with_extra(extra_cells_[step], step)};
    }
    return {with_extra(core_cell(coordinate, step), step)};
}

void OddRing::cut(Extent cell, int step, std::vector<Block>& sizes) const {
    const Block block = extra_block().first;
    const bool has_extra = cell.first <= last_cell_.first && cell.first + cell.count > block;
    const Extent inner{cell.first - (cell.first > block ? 1 : 0), cell.count - (has_extra ? 1 : 0)};
    const std::size_t before = sizes.size();
    core_->cut(inner, step, sizes);
    if (!has_extra) {
        return;
    }
    if (last(step)) {
        sizes.push_back(1);
        return;
    }
    Extent piece{inner.first, 0};
    for (std::size_t i = before; i < sizes.size(); ++i) {
        piece.count = sizes[i];
        if (contains_last_cell(piece)) {
            sizes[i] += 1;
            return;
        }
        piece.first += piece.count;
    }
}

}  // namespace trefoil
