// SPDX-License-Identifier: BSD-3-Clause
// Newton's method again. With a time T = p/q on trial, a partition is too narrow where the sum over
// its parts of f(part) = p rate(out of it) - 2 q whole is below that of one part of all. The least
// sum is found rank by rank (Dilworth truncation): x of a rank is the least f(S) - x(S without it)
// over sets S of it and ranks before it, by a flow; a set that is tight joins its ranks.
#include "algorithms/packing/partitions.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/packing/links.hpp"
#include "algorithms/packing/max_flow.hpp"

namespace trefoil {

namespace {

ThroughputBound bound_of(const std::vector<FabricLink>& links, std::vector<int> part_of) {
    std::int64_t rate = 0;
    for (const FabricLink& link : links) {
        rate += part_of[to_index(link.from)] != part_of[to_index(link.to)] ? link.rate : 0;
    }
    const int parts = *std::max_element(part_of.begin(), part_of.end()) + 1;
    const std::int64_t numerator = std::int64_t{2} * (parts - 1) * Fabric::whole;
    const std::int64_t divisor = std::max<std::int64_t>(1, std::gcd(numerator, rate));
    return {numerator / divisor, std::max<std::int64_t>(1, rate / divisor), std::move(part_of)};
}

/// Parts numbered from 0 in the order of their first ranks.
std::vector<int> numbered(const std::vector<int>& labels) {
    std::vector<int> number(labels.size(), -1), part_of;
    int parts = 0;
    for (const int label : labels) {
        int& known = number[static_cast<std::size_t>(label)];
        known = known < 0 ? parts++ : known;
        part_of.push_back(known);
    }
    return part_of;
}

/// The partition with the least sum for a time on trial.
std::vector<int> least_sum(const std::vector<FabricLink>& links, Rank ranks,
                           const ThroughputBound& trial) {
    std::vector<std::int64_t> x;
    std::vector<int> label(to_index(ranks));
    std::iota(label.begin(), label.end(), 0);
    const int source = ranks, sink = ranks + 1;
    for (Rank j = 0; j < ranks; ++j) {
        MaxFlow flow(ranks + 2);
        constexpr std::int64_t unlimited = std::int64_t{1} << 60;
        flow.arc(source, j, unlimited);
        std::int64_t positive = 0;
        for (Rank i = 0; i < j; ++i) {
            const std::int64_t weight = x[to_index(i)];
            positive += std::max<std::int64_t>(weight, 0);
            weight > 0 ? flow.arc(source, i, weight) : flow.arc(i, sink, -weight);
        }
        for (const FabricLink& link : links) {
            if (link.from <= j) {
                flow.arc(link.from, link.to <= j ? link.to : sink, trial.numerator * link.rate);
            }
        }
        const std::int64_t cut = flow.run(source, sink);
        x.push_back(cut - positive - 2 * trial.denominator * Fabric::whole);
        std::vector<bool> joined(to_index(ranks));
        for (Rank i = 0; i <= j; ++i) {
            if (flow.on_source_side(i)) {
                joined[static_cast<std::size_t>(label[to_index(i)])] = true;
            }
        }
        for (Rank i = 0; i < j; ++i) {
            label[to_index(i)] =
                joined[static_cast<std::size_t>(label[to_index(i)])] ? j : label[to_index(i)];
        }
    }
    return numbered(label);
}

}  // namespace

ThroughputBound widest_partition(const std::vector<FabricLink>& links, Rank ranks) {
    std::vector<int> alone(to_index(ranks));
    std::iota(alone.begin(), alone.end(), 0);
    ThroughputBound most = bound_of(links, alone);
    while (true) {
        ThroughputBound bound = bound_of(links, least_sum(links, ranks, most));
        if (!exceeds(bound, most)) {
            return most;
        }
        most = std::move(bound);
    }
}

}  // namespace trefoil
