// SPDX-License-Identifier: BSD-3-Clause
// The guest's gifts, and the core's cells widened by the guest's block.
#include "algorithms/rings/odd_ring.hpp"

namespace trefoil {

OddRing::OddRing(std::shared_ptr<const RingScatter> core)
    : RingScatter(core->size() + 1, core->steps(), {core->size() + 1}), core_(std::move(core)) {
    Extent cell{0, static_cast<Block>(core_->size())};
    for (int step = 0; step < steps(); ++step) {
        guest_cells_.push_back(cell);
        if (last(step)) {
            break;
        }
        const Gift gift = choose_gift(cell, step);
        gifts_.push_back(gift);
        if (gift.cell.count > 0 && gift.cell.first == cell.first) {
            cell.first += gift.cell.count;
        }
        cell.count -= gift.cell.count;
    }
    last_cell_ = cell;
    for (Rank c = 0; c < core_->size(); ++c) {
        if (core_cell(c, steps() - 1) == last_cell_) {
            last_owners_.push_back(c);
        }
    }
}

OddRing::Gift OddRing::choose_gift(Extent cell, int step) const {
    // Coordinates by their distance from the guest, both ways round.
    const Rank members = core_->size();
    for (Rank i = 0; i < members; ++i) {
        const Rank c = i % 2 == 0 ? i / 2 : members - 1 - i / 2;
        const Extent half = core_cell(c, step + 1);
        const bool inside =
            half.first >= cell.first && half.first + half.count <= cell.first + cell.count;
        if (inside) {
            return half.count < cell.count ? Gift{c, half} : Gift{};
        }
    }
    return {};
}

Extent OddRing::with_guest(Extent cell, int step) const {
    const bool shifted = cell.first >= guest_block().first;
    const bool widened = step < steps() && contains_last_cell(cell);
    return {cell.first + (shifted ? 1 : 0), cell.count + (widened ? 1 : 0)};
}

void OddRing::widen(int step, RingTransfer& transfer) const {
    for (Extent& e : transfer.positions) {
        e = with_guest(e, step + 1);
    }
}

void OddRing::sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    if (coordinate == guest()) {
        if (last(step)) {
            for (const Rank c : last_owners_) {
                out.push_back({c,
                               shorter_way(guest(), c, size()),
                               {with_guest(core_cell(c, steps()), steps())}});
            }
        } else if (gifts_[step].cell.count > 0) {
            const Gift& gift = gifts_[step];
            out.push_back({gift.to,
                           shorter_way(guest(), gift.to, size()),
                           {with_guest(gift.cell, step + 1)}});
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
        out.push_back({guest(), shorter_way(coordinate, guest(), size()), {guest_block()}});
    }
}

void OddRing::receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    if (coordinate == guest()) {
        if (last(step)) {
            for (const Rank c : last_owners_) {
                out.push_back({c, shorter_way(c, guest(), size()), {guest_block()}});
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
    const bool gets = last(step) ? core_cell(coordinate, step) == last_cell_
                                 : gifts_[step].cell.count > 0 && gifts_[step].to == coordinate;
    if (gets) {
        out.push_back(
            {guest(), shorter_way(guest(), coordinate, size()), {with_guest(kept, step + 1)}});
    }
}

std::vector<Extent> OddRing::held(Rank coordinate, int step) const {
    if (coordinate == guest()) {
        return {step == steps() ? guest_block() : with_guest(guest_cells_[step], step)};
    }
    return {with_guest(core_cell(coordinate, step), step)};
}

void OddRing::cut(Extent cell, int step, std::vector<Block>& sizes) const {
    const Block block = guest_block().first;
    const bool has_guest = cell.first <= last_cell_.first && cell.first + cell.count > block;
    const Extent inner{cell.first - (cell.first > block ? 1 : 0), cell.count - (has_guest ? 1 : 0)};
    const std::size_t before = sizes.size();
    core_->cut(inner, step, sizes);
    if (!has_guest) {
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
