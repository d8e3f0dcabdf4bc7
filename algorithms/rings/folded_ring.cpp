// SPDX-License-Identifier: BSD-3-Clause
// Folding a ring onto a power of two.
//
// Group v begins at s(v) = floor((2v+1) size / (2 groups)), counted from s(0). The half step makes
// the cut symmetric: (2v+1) size / (2 groups) is never whole, so -s(-1-v) = s(v) + 1, and
// x -> -2-x (counted from s(0) before coordinate 0) maps the groups onto themselves; x -> -3-x maps
// them onto their neighbours' places, one coordinate before.
#include "algorithms/rings/folded_ring.hpp"

#include <bit>

namespace trefoil {

FoldedRing::FoldedRing(Rank size, int largest) : size_(size), groups_(1), start_(0) {
    if (std::has_single_bit(static_cast<std::uint32_t>(size))) {
        groups_ = size;
        return;
    }
    while (std::int64_t{largest} * groups_ < size) {
        groups_ *= 2;
    }
    start_ = static_cast<Rank>(size_ / (std::int64_t{2} * groups_));
    reflection_ = static_cast<Rank>((std::int64_t{2} * size_ - 3 - 2 * start_) % size_);
}

int FoldedRing::steps() const {
    return std::countr_zero(static_cast<std::uint32_t>(groups_)) + (folded() ? 2 : 0);
}

Rank FoldedRing::first(Rank group) const {
    return static_cast<Rank>((std::int64_t{2} * group + 1) * size_ / (std::int64_t{2} * groups_)) -
           start_;
}

// The largest group that does not begin beyond the coordinate.
Rank FoldedRing::group_of(Rank coordinate) const {
    const std::int64_t end = std::int64_t{2} * groups_ * (coordinate + start_ + std::int64_t{1});
    return static_cast<Rank>(((end - 1) / size_ - 1) / 2);
}

Rank FoldedRing::centre(Rank group) const {
    return first(group) + (first(group + 1) - first(group)) / 3;
}

Rank FoldedRing::reflected(Rank coordinate) const {
    const Rank image = reflection_ - coordinate;
    return image < 0 ? image + size_ : image;
}

FoldedRing FoldedRing::mirrored_about(Rank reflection) const {
    FoldedRing ring = *this;
    ring.reflection_ = reflection;
    return ring;
}

}  // namespace trefoil
