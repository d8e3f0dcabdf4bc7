// SPDX-License-Identifier: BSD-3-Clause
// Offsets, positions and messages of the digit ring.
#include "algorithms/rings/digit_ring.hpp"

#include <algorithm>

namespace trefoil {

namespace {

int digits_of_offsets(Rank size, Rank radix) {
    int digits = 0;
    for (std::int64_t reached = 1; reached < size; reached *= radix) {
        ++digits;
    }
    return digits;
}

std::vector<Rank> position_digits(Rank size, Rank radix) {
    const int steps = digits_of_offsets(size, radix);
    std::int64_t power = 1;
    for (int k = 0; k < steps; ++k) {
        power *= radix;
    }
    return power == size ? std::vector<Rank>(steps, radix) : std::vector<Rank>{size};
}

}  // namespace

DigitRing::DigitRing(Rank size, Rank radix)
    : RingScatter(size, digits_of_offsets(size, radix), position_digits(size, radix)),
      radix_(radix),
      is_power_(digits() != std::vector<Rank>{size} || size == radix) {}

Rank DigitRing::stride(int step) const {
    std::int64_t power = 1;
    for (int k = 0; k < step; ++k) {
        power *= radix_;
    }
    return static_cast<Rank>(std::min<std::int64_t>(power, size()));
}

Block DigitRing::position(Rank coordinate) const {
    if (!is_power_) {
        return static_cast<Block>(coordinate);
    }
    Rank reversed = 0;
    for (int k = 0; k < steps(); ++k) {
        reversed = reversed * radix_ + coordinate % radix_;
        coordinate /= radix_;
    }
    return static_cast<Block>(reversed);
}

std::vector<Extent> DigitRing::positions(Rank coordinate, Rank first, Rank stride) const {
    std::vector<Block> blocks;
    for (std::int64_t offset = first; offset < size(); offset += stride) {
        blocks.push_back(position(static_cast<Rank>((coordinate + offset) % size())));
    }
    std::sort(blocks.begin(), blocks.end());
    std::vector<Extent> extents;
    for (const Block b : blocks) {
        if (!extents.empty() && extents.back().first + extents.back().count == b) {
            extents.back().count += 1;
        } else {
            extents.push_back({b, 1});
        }
    }
    return extents;
}

void DigitRing::sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    for (Rank digit = 1; digit < radix_; ++digit) {
        const std::int64_t distance = std::int64_t{digit} * stride(step);
        if (distance < size()) {
            const auto peer = static_cast<Rank>((coordinate + distance) % size());
            out.push_back({peer, shorter_way(coordinate, peer, size()),
                           positions(coordinate, static_cast<Rank>(distance), stride(step + 1))});
        }
    }
}

void DigitRing::receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    for (Rank digit = 1; digit < radix_; ++digit) {
        const std::int64_t distance = std::int64_t{digit} * stride(step);
        if (distance < size()) {
            const auto peer = static_cast<Rank>((coordinate + size() - distance) % size());
            out.push_back({peer, shorter_way(peer, coordinate, size()),
                           positions(peer, static_cast<Rank>(distance), stride(step + 1))});
        }
    }
}

std::vector<Extent> DigitRing::held(Rank coordinate, int step) const {
    return positions(coordinate, 0, stride(step));
}

}  // namespace trefoil
