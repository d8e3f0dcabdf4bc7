// SPDX-License-Identifier: BSD-3-Clause
// The sets that Swing's partners reach.
#include "algorithms/rings/swing_ring.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "algorithms/rings/halving_ring.hpp"

namespace trefoil {

namespace {

Rank wrapped(std::int64_t coordinate, Rank size) {
    const auto rest = static_cast<Rank>(coordinate % size);
    return rest < 0 ? rest + size : rest;
}

/// The runs of bits that are set.
std::vector<Extent> extents_of(const std::vector<std::uint64_t>& positions) {
    std::vector<Extent> result;
    for (std::size_t w = 0; w < positions.size(); ++w) {
        std::uint64_t left = positions[w];
        while (left != 0) {
            const int bit = std::countr_zero(left);
            const auto first = static_cast<Block>(w * 64) + static_cast<Block>(bit);
            const auto count = static_cast<Block>(std::countr_one(left >> bit));
            if (!result.empty() && result.back().first + result.back().count == first) {
                result.back().count += count;
            } else {
                result.push_back({first, count});
            }
            left &= left + (left & -left);  // the carry clears the lowest run
        }
    }
    return result;
}

}  // namespace

SwingRing::SwingRing(Rank size, Distance distance)
    : RingScatter(size, halving_steps(size), {size}), distance_(distance), cells_(steps()) {
    reach_.resize(steps() + 1);
    reach_[steps()] = {0};
    for (int step = steps() - 1; step >= 0; --step) {
        // From 0 the partner is odd, so what it reaches lies the other way round.
        std::vector<Rank>& reach = reach_[step];
        reach = reach_[step + 1];
        for (const Rank reached : reach_[step + 1]) {
            reach.push_back(wrapped(offset(step) - reached, base()));
        }
        std::sort(reach.begin(), reach.end());
        reach.erase(std::unique(reach.begin(), reach.end()), reach.end());
    }
    if (distance == Distance::doubling) {
        number_blocks();
    } else {
        position_.resize(base());
        std::iota(position_.begin(), position_.end(), 0);
    }
}

std::int64_t SwingRing::offset(int step) const {
    return swing_distance(distance_ == Distance::doubling ? step : steps() - 1 - step);
}

void SwingRing::cut(Extent cell, int step, std::vector<Block>& sizes) const {
    if (distance_ == Distance::doubling) {
        cells_.cut(cell, step, sizes);
    } else {
        RingScatter::cut(cell, step, sizes);
    }
}

void SwingRing::number_blocks() {
    const Block leaves = Block{1} << steps();
    std::vector<bool> seen(base(), false);
    std::vector<bool> first_visit(leaves, false);
    position_.resize(base());
    Block next = 0;
    for (Block leaf = 0; leaf < leaves; ++leaf) {
        Rank c = 0;
        for (int step = 0; step < steps(); ++step) {
            const bool crosses = (leaf >> (steps() - 1 - step) & 1U) != 0;
            c = crosses ? partner(c, step) : c;
        }
        if (c < size() && !seen[c]) {
            seen[c] = true;
            first_visit[leaf] = true;
            position_[c] = next++;
        }
    }
    cells_ = BinaryCells(steps(), first_visit);
}

Rank SwingRing::partner(Rank coordinate, int step) const {
    const std::int64_t distance = offset(step);
    return wrapped(coordinate + (coordinate % 2 == 0 ? distance : -distance), base());
}

void SwingRing::mark(Rank coordinate, int step, bool value, Positions& positions) const {
    for (const Rank offset : reach_[step]) {
        const std::int64_t signed_offset = coordinate % 2 == 0 ? offset : -offset;
        const Rank c = wrapped(coordinate + signed_offset, base());
        if (c < size()) {
            const std::uint64_t bit = std::uint64_t{1} << position_[c] % 64;
            std::uint64_t& word = positions[position_[c] / 64];
            word = value ? word | bit : word & ~bit;
        }
    }
}

std::vector<Extent> SwingRing::handed_over(Rank sender, Rank keeps, int step) const {
    Positions positions = none();
    mark(keeps, step + 1, true, positions);
    mark(sender, step + 1, false, positions);
    return extents_of(positions);
}

void SwingRing::transfer(Rank peer, Rank sender, Rank receiver, std::vector<Extent> positions,
                         std::vector<RingTransfer>& out) const {
    if (!positions.empty()) {
        out.push_back({peer, shorter_way(sender, receiver, size()), std::move(positions)});
    }
}

std::optional<SwingRing::Target> SwingRing::target(Rank coordinate, int step) const {
    const Rank to = partner(coordinate, step);
    if (to < size()) {
        return Target{to, to};
    }
    if (step + 1 < steps()) {
        return Target{partner(to, step + 1), to};
    }
    return std::nullopt;
}

void SwingRing::sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    if (const auto to = target(coordinate, step)) {
        transfer(to->peer, coordinate, to->peer, handed_over(coordinate, to->keeps, step), out);
    }
}

std::vector<char> SwingRing::reaching_absent(int step) const {
    std::vector<char> result(static_cast<std::size_t>(base()), 0);
    if (base() == size()) {
        return result;
    }
    for (const std::int64_t offset : reach_[static_cast<std::size_t>(step)]) {
        const Rank even = wrapped(size() - offset, base());
        const Rank odd = wrapped(size() + offset, base());
        if (even % 2 == 0) {
            result[static_cast<std::size_t>(even)] = 1;
        }
        if (odd % 2 == 1) {
            result[static_cast<std::size_t>(odd)] = 1;
        }
    }
    return result;
}

// Were nobody absent, all would send as much: what they reach has one form.
void SwingRing::messages(int step, std::vector<RingMessage>& out) const {
    const auto& reach = reach_[static_cast<std::size_t>(step) + 1];
    std::vector<char> reached(static_cast<std::size_t>(base()), 0);
    for (const Rank offset : reach) {
        reached[static_cast<std::size_t>(offset)] = 1;
    }
    const Rank other = partner(0, step);  // reaches the other way round
    const std::int64_t all = std::ranges::count_if(reach, [&](Rank offset) {
        return reached[static_cast<std::size_t>(wrapped(other - offset, base()))] == 0;
    });
    const std::vector<char> absent = reaching_absent(step + 1);
    for (Rank c = 0; c < size(); ++c) {
        if (const auto to = target(c, step)) {
            const bool less =
                absent[static_cast<std::size_t>(to->keeps)] > absent[static_cast<std::size_t>(c)];
            if (const std::int64_t units = all - (less ? 1 : 0); units > 0) {
                out.push_back({c, to->peer, shorter_way(c, to->peer, size()), units});
            }
        }
    }
}

void SwingRing::amounts(int step, std::vector<std::int64_t>& out) const {
    const std::int64_t all = std::ssize(reach_[static_cast<std::size_t>(step)]);
    const std::vector<char> absent = reaching_absent(step);
    for (Rank c = 0; c < size(); ++c) {
        out.push_back(all - absent[static_cast<std::size_t>(c)]);
    }
}

void SwingRing::receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    const Rank from = partner(coordinate, step);
    if (from < size()) {
        transfer(from, from, coordinate, handed_over(from, coordinate, step), out);
    }
    const Rank absent = size();
    if (base() > size() && step + 1 < steps() && partner(absent, step + 1) == coordinate) {
        const Rank sender = partner(absent, step);
        transfer(sender, sender, coordinate, handed_over(sender, absent, step), out);
    }
}

std::vector<Extent> SwingRing::held(Rank coordinate, int step) const {
    Positions positions = none();
    mark(coordinate, step, true, positions);
    return extents_of(positions);
}

}  // namespace trefoil
