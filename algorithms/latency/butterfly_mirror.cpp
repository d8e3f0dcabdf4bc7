// SPDX-License-Identifier: BSD-3-Clause
// Centres of groups of one to three are not equally far apart, so some links carry more than
// others. A reflection that brings the busy links of one half to the idle ones of the other saves
// up to a third: on 31 coordinates recursive doubling loads links with 10 vectors instead of 14.5.
#include "algorithms/latency/butterfly_mirror.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace trefoil {

namespace {

/// What crosses the links of a ring in one step, in halves of a share: from x to x + 1 and back;
/// and how many messages each coordinate sends either way.
struct StepLoads {
    explicit StepLoads(Rank size) : up(size), down(size), sends_up(size), sends_down(size) {}
    std::vector<std::int64_t> up, down;
    std::vector<int> sends_up, sends_down;
};

/// The sum of the largest loads, and the most messages through one port.
using Cost = std::pair<std::int64_t, int>;

class RingLoads {
  public:
    /// Of the plain part, or of the mirrored one as its mirror shows it.
    RingLoads(const FoldedRing& ring, ButterflyPartner partner, bool mirrored) : ring_(ring) {
        for (int step = 0; step < ring.steps(); ++step) {
            steps_.emplace_back(ring.size());
            for (Rank group = 0; group < ring.groups(); ++group) {
                if (ring.is_fold(step) || ring.is_restore(step)) {
                    add_members(group, ring.is_fold(step));
                } else {
                    const int exchange = ring.exchange(step);
                    add(ring.centre(group),
                        ring.centre(partner(group, exchange, ring.groups(), mirrored)));
                }
            }
        }
    }

    const std::vector<StepLoads>& steps() const { return steps_; }

  private:
    void add_members(Rank group, bool fold) {
        const Rank centre = ring_.centre(group);
        for (Rank member = ring_.first(group); member < ring_.first(group + 1); ++member) {
            if (member != centre) {
                add(fold ? member : centre, fold ? centre : member);
            }
        }
    }

    /// The shorter way; halves go both ways where both are equally long.
    void add(Rank from, Rank to) {
        const Rank size = ring_.size();
        const Rank ahead = (to - from + size) % size;
        const int weight = 2 * std::int64_t{ahead} == size ? 1 : 2;
        StepLoads& loads = steps_.back();
        (2 * std::int64_t{ahead} <= size ? loads.sends_up : loads.sends_down)[from] += 1;
        for (Rank i = 0; 2 * std::int64_t{ahead} <= size && i < ahead; ++i) {
            loads.up[(from + i) % size] += weight;
        }
        for (Rank i = 0; 2 * std::int64_t{ahead} >= size && i < size - ahead; ++i) {
            loads.down[(to + i) % size] += weight;
        }
    }

    const FoldedRing& ring_;
    std::vector<StepLoads> steps_;
};

/// What is at x comes to c - x, and a link from x to x + 1 becomes one from c - x to c - x - 1.
Cost cost_of(const RingLoads& plain, const RingLoads& mirrored, Rank c) {
    Cost cost{0, 0};
    for (std::size_t step = 0; step < plain.steps().size(); ++step) {
        const StepLoads& one = plain.steps()[step];
        const StepLoads& other = mirrored.steps()[step];
        const auto size = static_cast<Rank>(one.up.size());
        std::int64_t largest = 0;
        for (Rank x = 0; x < size; ++x) {
            const Rank image = (c - x + size) % size;
            const Rank link = (c - x - 1 + size) % size;
            largest =
                std::max({largest, one.up[x] + other.down[link], one.down[x] + other.up[link]});
            cost.second = std::max({cost.second, one.sends_up[x] + other.sends_down[image],
                                    one.sends_down[x] + other.sends_up[image]});
        }
        cost.first += largest;
    }
    return cost;
}

Rank best_reflection(const FoldedRing& ring, ButterflyPartner partner) {
    constexpr Rank all_up_to = 1024;
    const RingLoads plain(ring, partner, false);
    const RingLoads mirrored(ring, partner, true);
    Rank best = ring.reflection();
    Cost least = cost_of(plain, mirrored, best);
    const int most = least.second;  // messages through a port; no more for less load
    // As many trials as keep the work of larger rings level.
    const Rank stride =
        ring.size() <= all_up_to
            ? 1
            : static_cast<Rank>(std::int64_t{ring.size()} * ring.size() / all_up_to / all_up_to);
    for (Rank c = 0; c < ring.size(); c += stride) {
        const Cost cost = cost_of(plain, mirrored, c);
        if (cost < least && cost.second <= most) {
            least = cost;
            best = c;
        }
    }
    return best;
}

}  // namespace

FoldedRing butterfly_ring(Rank size, ButterflyPartner partner) {
    constexpr Rank largest_searched = 4096;
    const FoldedRing ring(size);
    if (!ring.folded() || size > largest_searched) {
        return ring;
    }
    static std::mutex mutex;
    static std::map<std::pair<Rank, ButterflyPartner>, Rank> reflections;
    const std::lock_guard lock(mutex);
    const auto [found, added] = reflections.emplace(std::pair(size, partner), 0);
    if (added) {
        found->second = best_reflection(ring, partner);
    }
    return ring.mirrored_about(found->second);
}

}  // namespace trefoil
