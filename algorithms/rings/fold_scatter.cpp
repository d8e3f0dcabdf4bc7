// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter on a ring folded onto a power of two. Step 0 folds, steps 1 .. S are those of the
// core, step S+1 brings home.
#include "algorithms/rings/fold_scatter.hpp"

#include <algorithm>

namespace trefoil {

namespace {

int scatter_steps(const FoldedRing& ring, bool brings_home) {
    return halving_steps(ring.groups()) + (ring.folded() ? (brings_home ? 2 : 1) : 0);
}

}  // namespace

FoldScatter::FoldScatter(Rank size, int largest, bool brings_home, Halving core)
    : RingScatter(size, scatter_steps(FoldedRing(size, largest), brings_home), {size}),
      ring_(size, largest),
      core_(core, ring_.groups()),
      begins_(ring_.groups() + 1) {
    for (Rank g = 0; g < ring_.groups(); ++g) {
        const Extent place = core_.held(g, core_.steps()).front();
        begins_[place.first + 1] = static_cast<Block>(ring_.first(g + 1) - ring_.first(g));
    }
    for (std::size_t i = 1; i < begins_.size(); ++i) {
        begins_[i] += begins_[i - 1];
    }
}

Extent FoldScatter::spread(Extent groups) const {
    const Block first = begins_[groups.first];
    return {first, begins_[groups.first + groups.count] - first};
}

Extent FoldScatter::own(Rank coordinate) const {
    const Rank group = ring_.group_of(coordinate);
    const Extent all = spread(core_.held(group, core_.steps()).front());
    return {all.first + static_cast<Block>(coordinate - ring_.first(group)), 1};
}

// Messages within the group: all that a member has towards its centre, or its block back.
void FoldScatter::sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    const Rank group = ring_.group_of(coordinate);
    const Rank centre = ring_.centre(group);
    if (ring_.is_fold(step)) {
        if (coordinate != centre) {
            out.push_back({centre,
                           shorter_way(coordinate, centre, size()),
                           {{0, static_cast<Block>(size())}}});
        }
    } else if (coordinate == centre && is_home(step)) {
        for (Rank member = ring_.first(group); member < ring_.first(group + 1); ++member) {
            if (member != centre) {
                out.push_back({member, shorter_way(centre, member, size()), {own(member)}, true});
            }
        }
    } else if (coordinate == centre) {
        std::vector<RingTransfer> transfers;
        core_.sends(group, ring_.exchange(step), transfers);
        exchange(coordinate, transfers, out, +1);
    }
}

void FoldScatter::receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    const Rank group = ring_.group_of(coordinate);
    const Rank centre = ring_.centre(group);
    if (ring_.is_fold(step)) {
        for (Rank member = ring_.first(group);
             coordinate == centre && member < ring_.first(group + 1); ++member) {
            if (member != centre) {
                out.push_back({member,
                               shorter_way(member, centre, size()),
                               {{0, static_cast<Block>(size())}}});
            }
        }
    } else if (is_home(step)) {
        if (coordinate != centre) {
            out.push_back(
                {centre, shorter_way(centre, coordinate, size()), {own(coordinate)}, true});
        }
    } else if (coordinate == centre) {
        std::vector<RingTransfer> transfers;
        core_.receives(group, ring_.exchange(step), transfers);
        exchange(coordinate, transfers, out, -1);
    }
}

/// The core's transfers between centres; side: +1 for what leaves, -1 for what arrives.
void FoldScatter::exchange(Rank coordinate, const std::vector<RingTransfer>& transfers,
                           std::vector<RingTransfer>& out, int side) const {
    for (const RingTransfer& t : transfers) {
        const Rank peer = ring_.centre(t.peer);
        const int sign = side > 0 ? shorter_way(coordinate, peer, size())
                                  : shorter_way(peer, coordinate, size());
        out.push_back({peer, sign, {spread(t.positions.front())}});
    }
}

std::vector<Extent> FoldScatter::held(Rank coordinate, int step) const {
    const Rank group = ring_.group_of(coordinate);
    if (ring_.folded() && step == 0) {
        return {{0, static_cast<Block>(size())}};
    }
    if (ring_.folded() && step == core_.steps() + 2) {
        return {own(coordinate)};
    }
    if (!ring_.is_centre(coordinate)) {
        return {};
    }
    return {spread(core_.held(group, ring_.exchange(step)).front())};
}

void FoldScatter::cut(Extent cell, int step, std::vector<Block>& sizes) const {
    if (ring_.is_fold(step)) {
        sizes.push_back(cell.count);
    } else if (is_home(step)) {
        sizes.insert(sizes.end(), cell.count, 1);
    } else {
        // The core cuts a cell of groups in two halves.
        const auto at = std::lower_bound(begins_.begin(), begins_.end(), cell.first);
        const auto first = static_cast<Block>(at - begins_.begin());
        const Block groups = static_cast<Block>(ring_.groups()) >> (ring_.exchange(step) + 1);
        const Extent half = spread({first, groups});
        sizes.push_back(half.count);
        sizes.push_back(cell.count - half.count);
    }
}

}  // namespace trefoil
