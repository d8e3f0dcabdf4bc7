// SPDX-License-Identifier: BSD-3-Clause
// Gather-scatter trees on a ring. Tseng, Ni and Sheu, "Toward Optimal Complete Exchange on
// Wormhole-Routed Tori", sections 3 and 4, for any size; with the second case of Definition 2 for
// the last gather phase, as the lemmas have it, and a guard without which pairs may circle the
// ring.
//
// Pairs whose way up is not longer travel up the positive tree, the others down its mirror image
// c -> 1 - c, whose hubs lie between those of the first. succ_l(i) = i + 2^l, or 0 beyond the end.
// In gather phase l = 0 ... d-2 (d = ceil(log2 n)) multiples of 2^l hand on what their subtree has
// no target for; in scatter phase l = d-2 ... 0 they hand on what is to go that far.
//
//     n = 8   gather 0:   0-1 2-1 4-1 6-1      odd i hand to i + 1, even ones what i + 1 is target
//             gather 1:   0---2   4---6        of; then the same among multiples of 2
//             scatter 1:  0---2---4---6---0
//             scatter 0:  0-1-2-3-4-5-6-7-0
//
// At most 2 (d - 1) steps. Invariant: no pair goes beyond its target, so none comes by twice.
//
// Own: what takes the place of the trees on rings of up to 13 where that is better
// (algorithms/alltoall/fitted_rings.hpp).
#include <algorithm>
#include <bit>
#include <functional>

#include "algorithms/alltoall/tabulated_ring.hpp"

namespace trefoil {

namespace {

/// The positive tree and what it still has to carry.
class GatherScatter {
  public:
    GatherScatter(Rank size, bool one_port) : size_(size), even_hubs_(one_port && size % 2 == 0) {
        while ((std::int64_t{1} << depth_) < size) {
            ++depth_;
        }
        held_.resize(size);
    }

    void add(AlltoallPair pair) { held_[pair.source].push_back(pair); }

    /// All phases, empty ones included.
    RingSteps run() {
        RingSteps steps;
        for (int level = 0; level <= depth_ - 2; ++level) {
            steps.push_back({phase(level, &GatherScatter::gathers), before_gather(level)});
        }
        for (int level = depth_ - 2; level >= 0; --level) {
            steps.push_back({phase(level, &GatherScatter::scatters), before_scatter(level)});
        }
        return steps;
    }

  private:
    using Rule = bool (GatherScatter::*)(Rank at, Rank target, int level) const;

    Rank ahead(Rank from, Rank to) const { return to >= from ? to - from : to - from + size_; }
    Rank successor(Rank at, int level) const {
        const std::int64_t next = at + (std::int64_t{1} << level);
        return next < size_ ? static_cast<Rank>(next) : 0;
    }
    /// Is `coordinate` in the subtree of level `level` at `root`? Those are SC_level(root) of the
    /// paper: the arc that begins at the root.
    bool below(Rank coordinate, Rank root, int level) const {
        return ahead(root, coordinate) < arc(root, level);
    }
    std::int64_t arc(Rank root, int level) const {
        if (level == 0) {
            return 1;
        }
        const std::int64_t half = std::int64_t{1} << (level - 1);
        return root + half < size_ ? half + arc(static_cast<Rank>(root + half), level - 1)
                                   : std::min<std::int64_t>(size_, size_ - root + half);
    }

    bool gathers(Rank at, Rank target, int level) const {
        if (even_hubs_ && level == 0) {
            return at % 2 == 1;
        }
        const Rank next = successor(at, level);
        if (level == depth_ - 2 || at % (Rank{2} << level) == 0) {
            return below(target, next, level + 1) && ahead(at, target) >= ahead(at, next);
        }
        return !below(target, at, level + 1);
    }

    bool scatters(Rank at, Rank target, int level) const {
        const Rank next = successor(at, level);
        if (even_hubs_ && level == 0) {
            return at % 2 == 0 && target == next;
        }
        return ahead(at, target) >= ahead(at, next);
    }

    // Section 7.2. Gather: the way of a multiple of 2^level is free when the one at its end has
    // what was handed on there at the level below.
    std::vector<RingSignal> before_gather(int level) const {
        std::vector<RingSignal> signals;
        for (Rank i = 0; level >= 1 && i < size_; i += Rank{1} << level) {
            const Rank next = successor(i, level);
            signals.push_back({next, -ahead(i, next)});
        }
        return signals;
    }

    // Scatter: whoever has sent over a whole way tells the one in the middle, which then sends. Of
    // even hubs those in the middle of the shortest ways do not.
    std::vector<RingSignal> before_scatter(int level) const {
        std::vector<RingSignal> signals;
        const Rank half = Rank{1} << level;
        const bool meet = level < depth_ - 2 && (level > 0 || !even_hubs_);
        for (Rank i = 0; meet && i < size_ - half; i += 2 * half) {
            signals.push_back({i, half});
        }
        return signals;
    }

    std::vector<RingMove> phase(int level, Rule rule) {
        std::vector<RingMove> moves;
        for (std::int64_t i = 0; i < size_; i += std::int64_t{1} << level) {
            const auto at = static_cast<Rank>(i);
            const int hop = ahead(at, successor(at, level));
            std::erase_if(held_[at], [&](AlltoallPair pair) {
                const bool moves_on =
                    pair.target != at && std::invoke(rule, *this, at, pair.target, level);
                if (moves_on) {
                    moves.push_back({at, hop, pair});
                }
                return moves_on;
            });
        }
        for (const RingMove& m : moves) {
            held_[(m.holder + m.hop) % size_].push_back(m.pair);
        }
        return moves;
    }

    Rank size_;
    bool even_hubs_;  // level 0 only fills and empties the even coordinates
    int depth_ = 0;
    std::vector<std::vector<AlltoallPair>> held_;  // by coordinate
};

/// The positive tree's phases, and those of its mirror image.
struct BothTrees {
    RingSteps up, down;
};

BothTrees both_trees(Rank size, bool one_port) {
    const auto mirror = [size](Rank c) { return (1 - c + size) % size; };
    GatherScatter up(size, one_port);
    GatherScatter down(size, one_port);
    for (Rank source = 0; source < size; ++source) {
        for (Rank distance = 1; distance < size; ++distance) {
            const Rank target = (source + distance) % size;
            if (distance <= size - distance) {
                up.add({target, source});
            } else {
                down.add({mirror(target), mirror(source)});
            }
        }
    }
    BothTrees trees{up.run(), down.run()};
    for (RingStep& step : trees.down) {
        for (RingMove& m : step.moves) {
            m = {mirror(m.holder), -m.hop, {mirror(m.pair.target), mirror(m.pair.source)}};
        }
        for (RingSignal& signal : step.signals) {
            signal = {mirror(signal.from), -signal.hop};
        }
    }
    return trees;
}

void append(RingStep& step, const RingStep& more) {
    step.moves.insert(step.moves.end(), more.moves.begin(), more.moves.end());
    step.signals.insert(step.signals.end(), more.signals.begin(), more.signals.end());
}

RingSteps in_turn_or_at_once(BothTrees trees, bool in_turn) {
    RingSteps steps;
    for (std::size_t phase = 0; phase < trees.up.size(); ++phase) {
        steps.push_back(std::move(trees.up[phase]));
        if (in_turn) {
            steps.push_back(std::move(trees.down[phase]));
        } else {
            append(steps.back(), trees.down[phase]);
        }
    }
    return steps;
}

/// At most four coordinates: straight to the next ones, one way, then the other way, then to the
/// opposite one, up from even and down from odd coordinates.
RingSteps short_ring(Rank size) {
    RingSteps steps;
    const auto straight = [&](Rank distance, auto sign_of) {
        steps.emplace_back();
        for (Rank source = 0; source < size; ++source) {
            const int hop = sign_of(source) * distance;
            steps.back().moves.push_back({source, hop, {(source + hop + size) % size, source}});
        }
    };
    if (size > 2) {
        straight(1, [](Rank) { return 1; });
        straight(1, [](Rank) { return -1; });
    }
    if (size % 2 == 0) {
        straight(size / 2, [](Rank source) { return source % 2 == 0 ? 1 : -1; });
    }
    if (size == 4) {  // the second link of each way was the next one's
        steps.back().signals = {{0, 1}, {1, -1}, {2, 1}, {3, -1}};
    }
    return steps;
}

/// To the next ones both ways at once.
RingSteps short_ring_both_ways(Rank size) {
    RingSteps steps = short_ring(size);
    if (size > 2) {
        append(steps[0], steps[1]);
        steps.erase(steps.begin() + 1);
    }
    return steps;
}

/// In which some pair moves. Up to three quarters of a power of two one of them is empty.
int count_phases(Rank size) {
    const int depth = std::bit_width(static_cast<std::uint32_t>(size - 1));
    const bool one_empty = 4 * std::int64_t{size} <= 3 * (std::int64_t{1} << depth);
    return 2 * (depth - 1) - (one_empty ? 1 : 0);
}

/// In phase l over 2^l links, gathering and scattering. Where one of the longest phases is empty,
/// in the other one only those go on that are close to the end of the ring.
std::int64_t least_hops_of_phases(Rank size) {
    const int depth = std::bit_width(static_cast<std::uint32_t>(size - 1));
    const std::int64_t longest = std::int64_t{1} << (depth - 2);
    const bool one_empty = count_phases(size) < 2 * (depth - 1);
    return one_empty ? 2 * longest - 1 : 4 * longest - 2;
}

}  // namespace

std::int64_t least_tree_hops(Rank size) {
    return size >= 4 ? least_hops_of_phases(size) : size > 1 ? 1 : 0;
}

std::int64_t least_one_port_tree_hops(Rank size) {
    return size == 4  ? 4
           : size < 4 ? size - 1
                      : least_hops_of_phases(size) * (size % 2 != 0 ? 2 : 1);
}

int count_tree_steps(Rank size) {
    return size >= 4 ? count_phases(size) : size > 1 ? 1 : 0;
}

int count_one_port_tree_steps(Rank size) {
    return size <= 4 ? size - 1 : count_phases(size) * (size % 2 != 0 ? 2 : 1);
}

RingSteps tree_steps(Rank size) {
    return size >= 4 ? in_turn_or_at_once(both_trees(size, false), false)
                     : short_ring_both_ways(size);
}

// Whoever sends over a link sends all that crosses it, so that nothing can meet.
RingSteps passed_on_steps(Rank size) {
    if (size <= 4) {
        return short_ring_both_ways(size);
    }
    RingSteps steps(size / 2);
    for (Rank source = 0; source < size; ++source) {
        for (Rank distance = 1; distance <= size / 2; ++distance) {
            for (const int sign : {1, -1}) {
                if (2 * distance == size && sign != (source % 2 == 0 ? 1 : -1)) {
                    continue;
                }
                const Rank target = (source + sign * distance + size) % size;
                for (Rank step = 0; step < distance; ++step) {
                    const Rank holder = (source + sign * step + size) % size;
                    steps[step].moves.push_back({holder, sign, {target, source}});
                }
            }
        }
    }
    return steps;
}

// Even sizes: both trees at once. A coordinate that gathers in one of them scatters in the other,
// so it sends and receives one message. Odd sizes have no such parity: one tree after the other.
RingSteps one_port_tree_steps(Rank size) {
    return size <= 4 ? short_ring(size) : in_turn_or_at_once(both_trees(size, true), size % 2 != 0);
}

}  // namespace trefoil
