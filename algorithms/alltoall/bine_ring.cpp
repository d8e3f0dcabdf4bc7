// SPDX-License-Identifier: BSD-3-Clause
// The alltoall on a ring of a power of two as the butterfly of a Bine reduce-scatter whose
// blocks are kept apart. De Sensi et al., Bine trees, SC 2025, section 4.
//
// In step k even coordinates meet c + rho(k), odd ones c - rho(k): rho = 1, -1, 3, -5, 11, ...
// Everybody hands over what is for those whom the other, but not itself, still reaches in later
// steps. log2 n steps with n/2 pairs each; even coordinates send one way round, odd ones the other.
#include "algorithms/alltoall/bine_ring.hpp"

#include <algorithm>
#include <cstdlib>

#include "algorithms/rings/halving_ring.hpp"

namespace trefoil {

BineRing::BineRing(Rank size) : RingAlltoall(size, halving_steps(size)) {}

int BineRing::hop(Rank coordinate, int step) const {
    const auto distance = static_cast<int>(swing_distance(step));
    return coordinate % 2 == 0 ? distance : -distance;
}

std::vector<RingHandover> BineRing::sends(Rank coordinate, int step) const {
    struct Source {
        Rank at;
        int last_move;
    };
    std::vector<Source> sources = {{coordinate, -1}};  // whose pairs may have come here
    for (int s = step - 1; s >= 0; --s) {
        for (std::size_t i = 0, count = sources.size(); i < count; ++i) {
            sources.push_back({partner(sources[i].at, s), std::max(sources[i].last_move, s)});
        }
    }
    std::vector<Rank> targets = {partner(coordinate, step)};  // that are reached from there
    for (int s = step + 1; s < steps(); ++s) {
        for (std::size_t i = 0, count = targets.size(); i < count; ++i) {
            targets.push_back(partner(targets[i], s));
        }
    }
    RingHandover handover{coordinate, hop(coordinate, step), {}};
    for (const Rank target : targets) {
        for (const Source& source : sources) {
            handover.pairs.push_back({{target, source.at}, source.last_move});
        }
    }
    std::sort(handover.pairs.begin(), handover.pairs.end());
    return {handover};
}

// Every second coordinate sends one way: of as many neighbours as the distance, which is odd, one
// more than half at most. Of up to four coordinates some meet one whose targets are neighbours.
std::vector<RingTraffic> BineRing::traffic() const {
    std::vector<RingTraffic> all;
    for (int step = 0; step < steps(); ++step) {
        const int distance = std::abs(hop(0, step));
        const std::int64_t pairs = std::int64_t{size()} * (size() / 2);
        all.push_back(
            {std::int64_t{distance + 1} / 2 * (size() / 2), distance, 1, pairs, 0, 0, size()});
    }
    if (size() == 2 || size() == 4) {
        all[0].straight = size();
    }
    return all;
}

// Partners are each other's.
std::vector<RingHandover> BineRing::receives(Rank coordinate, int step) const {
    return sends(partner(coordinate, step), step);
}

}  // namespace trefoil
