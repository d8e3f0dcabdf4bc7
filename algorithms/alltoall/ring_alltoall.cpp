// SPDX-License-Identifier: BSD-3-Clause
// What all alltoalls on a ring have in common: what is where before a step, and loads.
#include "algorithms/alltoall/ring_alltoall.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace trefoil {

namespace {

void count_pairs(const std::vector<HeldPair>& pairs, RingTraffic& traffic) {
    const std::int64_t all = std::ssize(pairs);
    const auto own = std::ranges::count_if(pairs, [](auto& held) { return held.since < 0; });
    const Rank targets = pairs.back().pair.target - pairs.front().pair.target + 1;
    traffic.pairs += all;
    traffic.straight += own == all && targets == all ? all : 0;
    traffic.onward += own == 0 ? all : 0;
}

}  // namespace

std::vector<RingTraffic> RingAlltoall::traffic() const {
    return traffic_of(*this);
}

std::vector<HeldPair> RingAlltoall::held(Rank coordinate, int step) const {
    std::vector<HeldPair> here;
    for (Rank other = 0; other < size_; ++other) {
        here.push_back(
            {step < steps_ ? AlltoallPair{other, coordinate} : AlltoallPair{coordinate, other},
             -1});
    }
    if (step == steps_) {
        note_arrivals(coordinate, here);
    } else {
        for (int s = 0; s < step; ++s) {
            pass(coordinate, s, here);
        }
    }
    return here;
}

void RingAlltoall::note_arrivals(Rank coordinate, std::vector<HeldPair>& by_source) const {
    for (int step = 0; step < steps_; ++step) {
        for (const RingHandover& h : receives(coordinate, step)) {
            for (const HeldPair& held : h.pairs) {
                if (held.pair.target == coordinate) {
                    by_source[held.pair.source].since = step;
                }
            }
        }
    }
}

void RingAlltoall::pass(Rank coordinate, int step, std::vector<HeldPair>& here) const {
    std::vector<HeldPair> leaving;
    for (const RingHandover& h : sends(coordinate, step)) {
        leaving.insert(leaving.end(), h.pairs.begin(), h.pairs.end());
    }
    std::sort(leaving.begin(), leaving.end());
    std::vector<HeldPair> then;
    std::set_difference(here.begin(), here.end(), leaving.begin(), leaving.end(),
                        std::back_inserter(then));
    for (const RingHandover& h : receives(coordinate, step)) {
        for (const HeldPair& held : h.pairs) {
            then.push_back({held.pair, step});
        }
    }
    std::sort(then.begin(), then.end());
    here = std::move(then);
}

std::vector<RingTraffic> traffic_of(const RingAlltoall& ring) {
    const Rank n = ring.size();
    std::vector<RingTraffic> all(ring.steps());
    for (int step = 0; step < ring.steps(); ++step) {
        RingTraffic& traffic = all[step];
        // By how much a link's load differs from that of the one before; runs may wrap once.
        std::vector<std::int64_t> up(2 * n + 1, 0);
        std::vector<std::int64_t> down(2 * n + 1, 0);
        for (Rank c = 0; c < n; ++c) {
            int ways_up = 0, ways_down = 0;
            for (const RingHandover& h : ring.sends(c, step)) {
                const Rank first = h.hop > 0 ? c : ring.wrapped(c + h.hop);
                std::vector<std::int64_t>& way = h.hop > 0 ? up : down;
                way[first] += std::ssize(h.pairs);
                way[first + std::abs(h.hop)] -= std::ssize(h.pairs);
                (h.hop > 0 ? ways_up : ways_down) += 1;
                traffic.hops = std::max(traffic.hops, std::abs(h.hop));
                count_pairs(h.pairs, traffic);
                traffic.messages += 1;
            }
            traffic.through_port = std::max({traffic.through_port, ways_up, ways_down});
        }
        for (std::vector<std::int64_t>* way : {&up, &down}) {
            for (Rank i = 1; i < 2 * n; ++i) {
                (*way)[i] += (*way)[i - 1];
            }
            for (Rank i = 0; i < n; ++i) {
                traffic.load = std::max(traffic.load, (*way)[i] + (*way)[i + n]);
            }
        }
    }
    return all;
}

std::int64_t largest_channel(const RingAlltoall& ring) {
    std::int64_t largest = 0;
    for (Rank c = 0; c < ring.size(); ++c) {
        std::map<int, std::int64_t> by_hop;
        for (int step = 0; step < ring.steps(); ++step) {
            for (const RingHandover& h : ring.sends(c, step)) {
                std::int64_t& pairs = by_hop[h.hop];
                pairs += std::ssize(h.pairs);
                largest = std::max(largest, pairs);
            }
        }
    }
    return largest;
}

}  // namespace trefoil
