// SPDX-License-Identifier: BSD-3-Clause
// The alltoall by signed digits (own). With radix 2 the largest load of a link, summed over the
// steps, is ceil((n^2 - [n odd]) / 8), which no alltoall on a ring can undercut, and no coordinate
// ever holds more pairs than at the beginning, but for ties.
//
//     n = 16, radix 2     distance 5 = 101b:  s --+1--> . --+4--> t
//                         distance 8, a tie:  s --+8--> t, or -8
#include "algorithms/alltoall/signed_digit_ring.hpp"

#include <algorithm>
#include <map>

namespace trefoil {

namespace {

std::vector<Rank> weights_of(Rank size, int radix, int steps) {
    std::vector<Rank> weights;
    const std::int64_t half = (std::int64_t{size} + 1) / 2;
    for (std::int64_t weight = 1; weight <= size / 2; weight *= radix) {
        if (weight >= half && weight > 1 && std::ssize(weights) >= steps) {
            break;
        }
        weights.push_back(static_cast<Rank>(weight));
    }
    return weights;
}

}  // namespace

SignedDigitRing::SignedDigitRing(Rank size, int radix, int steps)
    : RingAlltoall(size, static_cast<int>(weights_of(size, radix, steps).size())),
      weights_(weights_of(size, radix, steps)) {}

Rank SignedDigitRing::digit(Rank distance, int step) const {
    const Rank rest = step + 1 < steps() ? distance % weights_[step + 1] : distance;
    return rest / weights_[step];
}

// A pair of each distance begins at every coordinate, both ways; of those that are tied one way, at
// every second coordinate up. The least distance of a message has no digit before, so that pairs
// that are alone in one have not moved. Targets of several are no neighbours.
std::vector<RingTraffic> SignedDigitRing::traffic() const {
    struct Message {
        int distances = 0;  // of its pairs, but for a tie
        int tied = 0;       // 1: half of such messages have one more pair
    };
    const auto n = std::int64_t{size()};
    std::vector<RingTraffic> all(steps());
    for (int step = 0; step < steps(); ++step) {
        RingTraffic& traffic = all[step];
        std::vector<Message> by_digit(size() / 2 / weights_[step] + 1);
        for (Rank distance = 1; distance <= size() / 2; ++distance) {
            const Rank value = digit(distance, step);
            const Rank hop = value * weights_[step];
            if (hop == 0) {
                continue;
            }
            const bool tie = 2 * std::int64_t{distance} == n;
            (tie ? by_digit[value].tied : by_digit[value].distances) += 1;
            traffic.load += tie ? (hop + 1) / 2 : hop;
            traffic.hops = std::max(traffic.hops, hop);
            traffic.pairs += tie ? n : 2 * n;
        }
        for (const auto [distances, tied] : by_digit) {
            traffic.through_port += distances + tied > 0 ? 1 : 0;
            traffic.messages += distances > 0 ? 2 * n : tied * n;
            traffic.straight += distances == 1 ? (2 - tied) * n : distances == 0 ? tied * n : 0;
        }
    }
    return all;
}

int SignedDigitRing::last_move(Rank distance, int step) const {
    int last = step - 1;
    while (last >= 0 && digit(distance, last) == 0) {
        --last;
    }
    return last;
}

std::vector<RingHandover> SignedDigitRing::handovers(Rank coordinate, int step,
                                                     bool arriving) const {
    std::map<int, RingHandover> by_hop;
    for (Rank distance = 1; distance <= size() / 2; ++distance) {
        const int length = digit(distance, step) * weights_[step];
        for (const int sign : {1, -1}) {
            const int hop = sign * length;
            const Rank holder = arriving ? wrapped(std::int64_t{coordinate} - hop) : coordinate;
            const Rank source = wrapped(holder - sign * (distance % weights_[step]));
            const bool turned = 2 * distance == size() && sign != (source % 2 == 0 ? 1 : -1);
            if (hop != 0 && !turned) {
                RingHandover& handover = by_hop[hop];
                handover.holder = holder;
                handover.hop = hop;
                handover.pairs.push_back({{wrapped(source + std::int64_t{sign} * distance), source},
                                          last_move(distance, step)});
            }
        }
    }
    std::vector<RingHandover> result;
    for (auto& [hop, handover] : by_hop) {
        std::sort(handover.pairs.begin(), handover.pairs.end());
        result.push_back(std::move(handover));
    }
    return result;
}

}  // namespace trefoil
