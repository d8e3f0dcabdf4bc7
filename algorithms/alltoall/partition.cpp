// SPDX-License-Identifier: BSD-3-Clause
// Orders of partitioned alltoalls, and the choice among them. Tseng, Ni and Sheu, "Toward Optimal
// Complete Exchange on Wormhole-Routed Tori", sections 5 and 6: T1, T4, C1, C8 and C64 have 1, 2 or
// 4 ways in all dimensions.
//
//     8 nodes in 2 ways:     0   2   4   6        first phase: pairs for the other parity move +1;
//                              1   3   5   7      then one ring moves, or the other
#include "algorithms/alltoall/partition.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "algorithms/alltoall/parted_ring.hpp"
#include "algorithms/alltoall/ring_kinds.hpp"

namespace trefoil {

namespace {

/// Who takes which dimension when.
class Turns {
  public:
    Turns(const Torus& torus, const AlltoallPartition& partition) {
        for (int j = 0; j < torus.dimensions(); ++j) {
            if (torus.size(j) > 1) {
                dimensions_.push_back(j);
                groups_ = std::max(groups_, partition.ways[j]);
            }
        }
        stages_ = std::max(groups_, static_cast<Rank>(dimensions_.size()));
    }

    const std::vector<int>& dimensions() const { return dimensions_; }
    Rank groups() const { return groups_; }
    Rank stages() const { return stages_; }

    /// -1: none. A single group takes the dimensions in ascending order.
    int dimension(Rank group, Rank stage) const {
        const Rank index = groups_ == 1 ? stage : (group - stage + stages_) % stages_;
        return index < static_cast<Rank>(dimensions_.size()) ? dimensions_[index] : -1;
    }

    /// Those that any group takes in a stage.
    std::vector<int> moving(Rank stage) const {
        std::vector<int> all;
        for (Rank group = 0; group < groups_; ++group) {
            if (dimension(group, stage) >= 0) {
                all.push_back(dimension(group, stage));
            }
        }
        return all;
    }

  private:
    std::vector<int> dimensions_;  // of more than one coordinate
    Rank groups_ = 1, stages_ = 0;
};

std::shared_ptr<const PartedRing> parted_ring(Rank size, Rank ways, bool binary) {
    return std::make_shared<PartedRing>(ways, binary,
                                        ring_alltoall(RingKind::tree_one_port, size / ways));
}

/// What the choice goes by: sum of the largest link loads, in blocks, then steps.
struct Price {
    std::int64_t load = 0;
    int steps = 0;
    friend auto operator<=>(const Price&, const Price&) = default;
};

/// Prices of partitions of one torus, from those of its rings.
class Prices {
  public:
    Prices(const Torus& torus, bool binary) : torus_(torus), binary_(binary) {}

    Price of(const std::vector<Rank>& ways) {
        const Turns turns(torus_, {ways, binary_});
        Price price;
        for (const int j : turns.dimensions()) {
            const Loads& loads = loads_of(j, ways[j]);
            price.load += sum(loads.first);
            price.steps += static_cast<int>(loads.first.size());
        }
        for (Rank stage = 0; stage < turns.stages(); ++stage) {
            std::vector<std::int64_t> largest;
            for (const int j : turns.moving(stage)) {
                const std::vector<std::int64_t>& loads = loads_of(j, ways[j]).then;
                largest.resize(std::max(largest.size(), loads.size()));
                for (std::size_t i = 0; i < loads.size(); ++i) {
                    largest[i] = std::max(largest[i], loads[i]);
                }
            }
            price.load += sum(largest);
            price.steps += static_cast<int>(largest.size());
        }
        return price;
    }

  private:
    /// By step of the first phase, and of the rings; in blocks.
    struct Loads {
        std::vector<std::int64_t> first, then;
    };

    static std::int64_t sum(const std::vector<std::int64_t>& loads) {
        return std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
    }

    const Loads& loads_of(int dimension, Rank ways) {
        const auto [found, added] = loads_.try_emplace({dimension, ways});
        Loads& loads = found->second;
        if (added) {
            const Rank size = torus_.size(dimension);
            const auto ring = parted_ring(size, ways, binary_);
            // A pair of the ring stands for the blocks that agree with it in this dimension; a pair
            // of a smaller ring for as many of those as there are ways.
            const std::int64_t blocks = torus_.ranks() / size;
            for (const RingTraffic& step : traffic_of(*ring)) {
                loads.first.push_back(blocks * step.load);
            }
            loads.first.resize(ring->first_steps());
            for (const RingTraffic& step : ring->part().traffic()) {
                loads.then.push_back(blocks * ways * step.load);
            }
        }
        return loads;
    }

    const Torus& torus_;
    bool binary_;
    std::map<std::pair<int, Rank>, Loads> loads_;
};

/// All ways of each dimension after the ways of those before it.
void enumerate(const Torus& torus, std::vector<Rank>& ways, Prices& prices,
               std::pair<Price, std::vector<Rank>>& best) {
    const int j = static_cast<int>(ways.size());
    if (j == torus.dimensions()) {
        const Price price = prices.of(ways);
        if (best.second.empty() || price < best.first) {
            best = {price, ways};
        }
        return;
    }
    for (Rank w = 1; w <= 4; ++w) {
        if (w == 1 || (torus.size(j) % w == 0 && w < torus.size(j))) {
            ways.push_back(w);
            enumerate(torus, ways, prices, best);
            ways.pop_back();
        }
    }
}

}  // namespace

AlltoallPartition uniform_partition(const Torus& torus, Rank ways, bool binary) {
    return {std::vector<Rank>(torus.dimensions(), ways), binary};
}

AlltoallPartition cheapest_partition(const Torus& torus, bool binary) {
    static std::mutex mutex;
    static auto& known = *new std::map<std::pair<std::vector<Rank>, bool>, std::vector<Rank>>;
    const std::lock_guard lock(mutex);
    std::vector<Rank>& ways = known[{torus.sizes(), binary}];
    if (ways.empty()) {
        Prices prices(torus, binary);
        std::pair<Price, std::vector<Rank>> best;
        std::vector<Rank> none;
        enumerate(torus, none, prices, best);
        ways = best.second;
    }
    return {ways, binary};
}

AlltoallRings partition_rings(const Torus& torus, const AlltoallPartition& partition) {
    AlltoallRings rings;
    for (int j = 0; j < torus.dimensions(); ++j) {
        rings.push_back(torus.size(j) == 1
                            ? ring_alltoall(RingKind::tree_one_port, 1)
                            : parted_ring(torus.size(j), partition.ways[j], partition.binary));
    }
    return rings;
}

std::vector<AlltoallPart> partition_parts(const Torus& torus, Rank rank,
                                          const AlltoallPartition& partition) {
    const Turns turns(torus, partition);
    DimensionOrder order;
    std::vector<int> steps(torus.dimensions());
    Rank group = 0;
    for (const int j : turns.dimensions()) {
        const auto ring = parted_ring(torus.size(j), partition.ways[j], partition.binary);
        order.insert(order.end(), ring->first_steps(), j);
        steps[j] = ring->part().steps();
        group += torus.coordinate(rank, j) % partition.ways[j];
    }
    group %= turns.groups();
    std::vector<int> stages;
    for (Rank stage = 0; stage < turns.stages(); ++stage) {
        if (turns.groups() > 1) {  // one group's dimensions share no links
            stages.push_back(static_cast<int>(order.size()));
        }
        int longest = 0;
        for (const int j : turns.moving(stage)) {
            longest = std::max(longest, steps[j]);
        }
        const int mine = turns.dimension(group, stage);
        const int busy = mine >= 0 ? steps[mine] : 0;
        order.insert(order.end(), busy, mine);
        order.insert(order.end(), longest - busy, -1);
    }
    return {{{order}, stages}};
}

}  // namespace trefoil
