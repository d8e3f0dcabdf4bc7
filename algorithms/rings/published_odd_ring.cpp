// SPDX-License-Identifier: BSD-3-Clause
// The core's messages, and the single blocks that the extra coordinate exchanges.
#include "algorithms/rings/published_odd_ring.hpp"

#include <algorithm>

namespace trefoil {

PublishedOddRing::PublishedOddRing(std::shared_ptr<const RingScatter> core, Order order)
    : RingScatter(core->size() + 1, core->steps(), {core->size() + 1}),
      core_(std::move(core)),
      order_(order),
      met_{0} {
    for (int step = 0; step < steps(); ++step) {
        const Rank left = core_->size() - met_.back();
        met_.push_back(met_.back() + (step + 1 < steps() ? (left + 1) / 2 : left));
    }
}

int PublishedOddRing::meeting(Rank coordinate) const {
    const Rank index = listed(coordinate);  // the list is its own inverse
    const auto after = std::upper_bound(met_.begin(), met_.end(), index);
    return static_cast<int>(after - met_.begin()) - 1;
}

void PublishedOddRing::meetings(int step, bool leaving, std::vector<RingTransfer>& out) const {
    for (Rank i = met_[step]; i < met_[step + 1]; ++i) {
        const Rank c = listed(i);
        const int way = leaving ? shorter_way(extra(), c, size()) : shorter_way(c, extra(), size());
        out.push_back({c, way, {leaving ? own_block(c) : extra_block()}});
    }
}

void PublishedOddRing::correct_ways(std::size_t from, Rank coordinate, bool leaving,
                                    std::vector<RingTransfer>& out) const {
    for (std::size_t i = from; i < out.size(); ++i) {
        out[i].sign = leaving ? shorter_way(coordinate, out[i].peer, size())
                              : shorter_way(out[i].peer, coordinate, size());
    }
}

void PublishedOddRing::sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    if (coordinate == extra()) {
        meetings(step, true, out);
        return;
    }
    const std::size_t before = out.size();
    core_->sends(coordinate, step, out);
    correct_ways(before, coordinate, true, out);
    if (meeting(coordinate) == step) {
        out.push_back({extra(), shorter_way(coordinate, extra(), size()), {extra_block()}});
    }
}

void PublishedOddRing::receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const {
    if (coordinate == extra()) {
        meetings(step, false, out);
        return;
    }
    const std::size_t before = out.size();
    core_->receives(coordinate, step, out);
    correct_ways(before, coordinate, false, out);
    if (meeting(coordinate) == step) {
        out.push_back({extra(), shorter_way(extra(), coordinate, size()), {own_block(coordinate)}});
    }
}

std::vector<Extent> PublishedOddRing::held(Rank coordinate, int step) const {
    std::vector<Extent> result;
    if (coordinate == extra()) {
        for (Rank i = met_[step]; i < core_->size(); ++i) {
            result.push_back(own_block(listed(i)));
        }
        std::sort(result.begin(), result.end(),
                  [](const Extent& a, const Extent& b) { return a.first < b.first; });
        result.push_back(extra_block());
    } else {
        result = core_->held(coordinate, step);
        if (meeting(coordinate) >= step) {
            result.push_back(extra_block());
        }
    }
    return result;
}

}  // namespace trefoil
