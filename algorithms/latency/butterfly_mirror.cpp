// SPDX-License-Identifier: BSD-3-Clause
// Centres of groups of one to three are not equally far apart, so some links carry more than
// others. A reflection that brings the busy links of one half to the idle ones of the other saves
// up to a third: on 31 coordinates recursive doubling loads links with 10 vectors instead of 14.5.
#include "algorithms/latency/butterfly_mirror.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace trefoil {

namespace {

/// What crosses the links of a ring in one step, in halves of a share: from x to x + 1 and back;
/// and how many messages each coordinate sends either way.
struct StepLoads {
    explicit StepLoads(Rank size) : up(size), down(size), sends_up(size), sends_down(size) {}
    std::vector<std::int16_t> up, down, sends_up, sends_down;  // of up to largest_searched ranks
};

/// The sum of the largest loads, and the most messages through one port.
using Cost = std::pair<std::int32_t, std::int32_t>;

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
            complete(steps_.back().up);
            complete(steps_.back().down);
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

    /// The shorter way; halves go both ways where both are equally long. Loads are differences from
    /// one link to the next, until the step is complete.
    void add(Rank from, Rank to) {
        const Rank size = ring_.size();
        const Rank ahead = to >= from ? to - from : to - from + size;
        const std::int64_t twice = 2 * std::int64_t{ahead};
        const std::int16_t weight = twice == size ? 1 : 2;
        StepLoads& loads = steps_.back();
        (twice <= size ? loads.sends_up : loads.sends_down)[from] += 1;
        if (twice <= size) {
            add_run(from, ahead, weight, loads.up);
        }
        if (twice >= size) {
            add_run(to, size - ahead, weight, loads.down);
        }
    }

    static void add_run(Rank first, Rank links, std::int16_t weight,
                        std::vector<std::int16_t>& way) {
        const auto size = static_cast<Rank>(way.size());
        const Rank end = first + links;
        way[first] += weight;
        if (end < size) {
            way[end] -= weight;
        } else if (end > size) {
            way[0] += weight;
            way[end - size] -= weight;
        }
    }

    static void complete(std::vector<std::int16_t>& way) {
        for (std::size_t x = 1; x < way.size(); ++x) {
            way[x] = static_cast<std::int16_t>(way[x] + way[x - 1]);
        }
    }

    const FoldedRing& ring_;
    std::vector<StepLoads> steps_;
};

/// Twice around and backwards, so that what is reflected is a run.
template <typename T>
std::vector<T> backwards(const std::vector<T>& way) {
    std::vector<T> result(way.rbegin(), way.rend());
    result.insert(result.end(), way.rbegin(), way.rend());
    return result;
}

/// The largest sum of what is at x and at first - x.
template <typename T>
T largest_sum(const std::vector<T>& plain, const std::vector<T>& reversed, Rank first) {
    const auto size = static_cast<Rank>(plain.size());
    const T* const other = reversed.data() + (size - 1 - (first + size) % size);
    T largest = 0;
    for (std::size_t x = 0; x < plain.size(); ++x) {
        largest = std::max(largest, static_cast<T>(plain[x] + other[x]));
    }
    return largest;
}

/// A plain part beside a mirrored one.
class Reflections {
  public:
    Reflections(const RingLoads& plain, const RingLoads& mirrored) {
        for (std::size_t step = 0; step < plain.steps().size(); ++step) {
            const StepLoads& one = plain.steps()[step];
            const StepLoads& other = mirrored.steps()[step];
            pairs_.push_back({one, {other}});
            pairs_.back().reversed.up = backwards(other.up);
            pairs_.back().reversed.down = backwards(other.down);
            pairs_.back().reversed.sends_up = backwards(other.sends_up);
            pairs_.back().reversed.sends_down = backwards(other.sends_down);
            pairs_.back().least =
                std::max({std::ranges::max(one.up), std::ranges::max(one.down),
                          std::ranges::max(other.up), std::ranges::max(other.down)});
            least_ += pairs_.back().least;
        }
        std::ranges::stable_sort(pairs_, std::greater<>(), &Pair::least);
    }

    /// What is at x comes to c - x, and a link from x to x + 1 becomes one from c - x to c - x - 1.
    /// None where the load is more than `most`.
    std::optional<Cost> cost(Rank c, std::int32_t most) const {
        Cost cost{least_, 0};
        for (const auto& [one, other, least] : pairs_) {
            cost.first += std::max(largest_sum(one.up, other.down, c - 1),
                                   largest_sum(one.down, other.up, c - 1)) -
                          least;
            if (cost.first > most) {
                return std::nullopt;
            }
        }
        for (const auto& [one, other, least] : pairs_) {
            cost.second =
                std::max<std::int32_t>({cost.second, largest_sum(one.sends_up, other.sends_down, c),
                                        largest_sum(one.sends_down, other.sends_up, c)});
        }
        return cost;
    }

  private:
    struct Pair {
        StepLoads one, reversed;
        std::int32_t least = 0;  ///< of the largest load
    };
    std::vector<Pair> pairs_;
    std::int32_t least_ = 0;
};

Rank best_reflection(const FoldedRing& ring, ButterflyPartner partner) {
    constexpr Rank all_up_to = 1024;
    const RingLoads plain(ring, partner, false);
    const RingLoads mirrored(ring, partner, true);
    const Reflections reflections(plain, mirrored);
    Rank best = ring.reflection();
    Cost least = *reflections.cost(best, std::numeric_limits<std::int32_t>::max());
    const int most = least.second;  // messages through a port; no more for less load
    // As many trials as keep the work of larger rings level.
    const Rank stride =
        ring.size() <= all_up_to
            ? 1
            : static_cast<Rank>(std::int64_t{ring.size()} * ring.size() / all_up_to / all_up_to);
    for (Rank c = 0; c < ring.size(); c += stride) {
        const std::optional<Cost> cost = reflections.cost(c, least.first);
        if (cost && *cost < least && cost->second <= most) {
            least = *cost;
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
    static auto& reflections = *new std::map<std::pair<Rank, ButterflyPartner>, Rank>;
    const std::lock_guard lock(mutex);
    const auto [found, added] = reflections.emplace(std::pair(size, partner), 0);
    if (added) {
        found->second = best_reflection(ring, partner);
    }
    return ring.mirrored_about(found->second);
}

}  // namespace trefoil
