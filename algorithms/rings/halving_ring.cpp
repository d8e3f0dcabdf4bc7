// SPDX-License-Identifier: BSD-3-Clause
// Groups, partners and stand-ins of the halving ring.
#include "algorithms/rings/halving_ring.hpp"

#include <cstdlib>

namespace trefoil {

namespace {

std::uint32_t reversed_bits(std::uint32_t value, int bits) {
    std::uint32_t result = 0;
    for (int i = 0; i < bits; ++i) {
        result = (result << 1) | (value >> i & 1U);
    }
    return result;
}

/// Bit s says whether Swing's route from coordinate 0 to c takes part in step s. Distances are sums
/// of powers of -2, and a route changes parity, so sense, with every step it takes: with the
/// negabinary digits h of c (odd) or -c (even), step s is taken where h(s) and h(s+1) differ.
std::uint32_t swing_route(std::uint32_t c, int bits) {
    constexpr std::uint32_t alternating = 0xAAAAAAAAU;
    const std::uint32_t mask = (1U << bits) - 1;
    const std::uint32_t value = c % 2 == 1 ? c : 0U - c;
    const std::uint32_t negabinary = ((value + alternating) ^ alternating) & mask;
    return negabinary ^ (negabinary >> 1);
}

std::vector<Rank> binary_digits(Rank size) {
    const int steps = halving_steps(size);
    if ((std::int64_t{1} << steps) == size) {
        return std::vector<Rank>(steps, 2);
    }
    return {size};
}

}  // namespace

std::int64_t swing_distance(int step) {
    const std::int64_t power = std::int64_t{1} << (step + 1);
    return (1 - (step % 2 == 0 ? -power : power)) / 3;
}

int halving_steps(Rank size) {
    int steps = 0;
    while ((std::int64_t{1} << steps) < size) {
        ++steps;
    }
    return steps;
}

HalvingRing::HalvingRing(Halving pattern, Rank size)
    : RingScatter(size, halving_steps(size), binary_digits(size)),
      pattern_(pattern),
      cells_(steps()) {
    const std::size_t all = std::size_t{1} << steps();
    if (all == static_cast<std::size_t>(size)) {
        return;
    }
    std::vector<bool> present(all, false);
    for (Rank c = 0; c < size; ++c) {
        present[place(c)] = true;
    }
    cells_ = BinaryCells(steps(), present);
}

Rank HalvingRing::partner(Rank coordinate, int step) const {
    const std::int64_t all = std::int64_t{1} << steps();
    std::int64_t distance = std::int64_t{1} << step;
    bool forward = (coordinate >> step & 1) == 0;
    if (pattern_ == Halving::swing) {
        distance = swing_distance(step);
        forward = coordinate % 2 == 0;
    } else if (pattern_ == Halving::doubling_mirrored) {
        forward = !forward;
    }
    return static_cast<Rank>((coordinate + (forward ? distance : -distance)) & (all - 1));
}

Block HalvingRing::place(Rank coordinate) const {
    const auto c = static_cast<std::uint32_t>(coordinate);
    return reversed_bits(pattern_ == Halving::swing ? swing_route(c, steps()) : c, steps());
}

Rank HalvingRing::target(Rank coordinate, int step) const {
    const Rank wanted = partner(coordinate, step);
    if (wanted < size()) {
        return wanted;
    }
    const Extent group = cell(wanted, step + 1);
    if (group.count == 0) {
        return coordinate;
    }
    for (Rank distance = 1; 2 * static_cast<std::int64_t>(distance) <= size(); ++distance) {
        const Rank after = coordinate + distance;
        const Rank before = coordinate - distance;
        for (const Rank c :
             {before < 0 ? before + size() : before, after >= size() ? after - size() : after}) {
            if (cell(c, step + 1) == group) {
                return c;
            }
        }
    }
    return coordinate;  // a group with blocks has a member
}

int HalvingRing::sign(Rank from, Rank to) const {
    const std::int64_t apart = static_cast<std::int64_t>(to) - from;
    const bool tie = 2 * std::abs(apart) == size();
    return tie && pattern_ == Halving::doubling_mirrored ? -1 : shorter_way(from, to, size());
}

void HalvingRing::sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    const Rank to = target(coordinate, step);
    if (to != coordinate) {
        out.push_back({to, sign(coordinate, to), {cell(to, step + 1)}});
    }
}

void HalvingRing::receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    const Extent kept = cell(coordinate, step + 1);
    const auto from = [&](Rank sender) {
        if (sender < size() && target(sender, step) == coordinate) {
            out.push_back({sender, sign(sender, coordinate), {kept}});
        }
    };
    from(partner(coordinate, step));
    for (std::int64_t c = size(); c < std::int64_t{1} << steps(); ++c) {
        const auto absent = static_cast<Rank>(c);
        if (cell(absent, step + 1) == kept) {
            from(partner(absent, step));
        }
    }
}

std::vector<Extent> HalvingRing::held(Rank coordinate, int step) const {
    return {cell(coordinate, step)};
}

void HalvingRing::messages(int step, std::vector<RingMessage>& out) const {
    for (Rank c = 0; c < size(); ++c) {
        if (const Rank to = target(c, step); to != c) {
            out.push_back({c, to, sign(c, to), std::int64_t{cell(to, step + 1).count}});
        }
    }
}

void HalvingRing::amounts(int step, std::vector<std::int64_t>& out) const {
    for (Rank c = 0; c < size(); ++c) {
        out.push_back(std::int64_t{cell(c, step).count});
    }
}

}  // namespace trefoil
