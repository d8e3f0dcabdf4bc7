// SPDX-License-Identifier: BSD-3-Clause
// Bounds of throughput: known ones, and each by its own proof.
#include "algorithms/packing/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/packing/max_flow.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

using enum Collective;

ThroughputBound bound(const std::string& text, Collective collective, Rank root = 0) {
    return throughput_bound(Fabric::parse(text), collective, root).value();
}

void expect(const std::string& text, Collective collective, std::int64_t numerator,
            std::int64_t denominator, Rank root = 0) {
    const ThroughputBound found = bound(text, collective, root);
    EXPECT_EQ(found.numerator * denominator, numerator * found.denominator)
        << to_string(collective) << " on " << text << ": " << found.numerator << "/"
        << found.denominator;
}

TEST(Bounds, OfAllreduceAreThoseOfTheStrengthOfTheNetwork) {
    expect("3x3", allreduce, 4, 9);
    expect("3x3:cable=+0@4", allreduce, 8, 17);
    expect("3x3:cable=+0@4=0.5", allreduce, 16, 35);
    expect("4x4", allreduce, 15, 32);
    expect("4x4:node=5", allreduce, 1, 2);
    expect("4mx4m", allreduce, 5, 8);
    expect("8", allreduce, 7, 8);
    expect("8:cable=+0@3", allreduce, 1, 1);
    expect("8m", allreduce, 1, 1);
    expect("2", allreduce, 1, 2);
    expect("1", allreduce, 0, 1);
    // The narrow place is not always the number of all cables.
    expect("3mx2m:cable=+0@0=0.25", allreduce, 8, 9);
    expect("6mx1:cable=+0@2=0.1", allreduce, 10, 1);
}

// Every link of one way only: what is reduced needs the slow way as much as the results do.
TEST(Bounds, OfAllreduceTakeTheSlowerWayOfACable) {
    expect("2mx1:link=+0@0=0.5", allreduce, 2, 1);
    expect("6mx1:link=-0@3=0.1", allreduce, 10, 1);
    EXPECT_TRUE(bound("6mx1:link=-0@3=0.1", allreduce).one_way);
    EXPECT_FALSE(bound("6mx1:cable=-0@3=0.1", allreduce).one_way);
}

TEST(Bounds, OfRootedCollectivesAreLeastCuts) {
    expect("3x3", bcast, 1, 4);
    expect("3x3:cable=+0@4", bcast, 1, 3);
    expect("3x3:cable=+0@4", reduce, 1, 3);
    expect("3x3:link=+0@4", bcast, 1, 3);
    expect("3x3:link=+0@4", reduce, 1, 3);
    expect("3x3:link=+0@4", bcast, 1, 3, 4);
    expect("3x3:link=+0@7", reduce, 1, 4, 7);
    expect("4mx4m", bcast, 1, 2);
    expect("8:cable=+0@3", bcast, 1, 1);
    expect("3x3", scatter, 2, 9);
    expect("8:cable=+0@3", scatter, 1, 2);
    expect("8:cable=+0@0", gather, 7, 8);
    expect("6mx1:cable=+0@2=0.1", scatter, 5, 1);
}

TEST(Bounds, OfBlocksOfAllAreTheRateOfTheNarrowestSet) {
    expect("3x3", allgather, 2, 9);
    expect("4x4", allgather, 15, 64);
    expect("4mx4m", allgather, 15, 32);
    expect("3x3:cable=+0@4", allgather, 8, 27);
    expect("3x3:cable=+0@4", reduce_scatter, 8, 27);
    expect("3x3:link=+0@4", reduce_scatter, 8, 27);
    expect("4x4:node=5", allgather, 14, 45);
    expect("8:cable=+0@3", allgather, 7, 8);
    expect("6mx1:cable=+0@2=0.1", allgather, 5, 1);
    expect("8", alltoall, 1, 1);
    expect("3x3:cable=+0@4", alltoall, 2, 5);
    expect("3x3:node=4=0.5", alltoall, 4, 9);  // into that node, or out of it
    expect("6mx1:cable=+0@2=0.1", alltoall, 15, 1);
}

/// What the header says of a partition, worked out again.
double by_proof(const Fabric& fabric, Collective collective, const ThroughputBound& bound) {
    const double n = fabric.ranks();
    const auto& part_of = bound.part_of;
    double between = 0, into = 0, out = 0;
    for (const FabricLink& link : fabric.links()) {
        const int from = part_of[static_cast<std::size_t>(link.from)];
        const int to = part_of[static_cast<std::size_t>(link.to)];
        const double rate = link.rate / 1000.0;
        between += from != to ? rate : 0;
        into += from != 1 && to == 1 ? rate : 0;
        out += from == 1 && to != 1 ? rate : 0;
    }
    const auto inside = static_cast<double>(std::count(part_of.begin(), part_of.end(), 1));
    switch (collective) {
        case allreduce:
            return bound.one_way
                       ? 1 / into
                       : 2.0 * *std::max_element(part_of.begin(), part_of.end()) / between;
        case bcast:
            return 1 / into;
        case reduce:
            return 1 / out;
        case allgather:
            return (n - inside) / n / into;
        case reduce_scatter:
            return (n - inside) / n / out;
        case scatter:
            return inside / n / into;
        case gather:
            return inside / n / out;
        default:
            return (n - inside) * inside / n / into;
    }
}

TEST(Bounds, AreProvedByTheirParts) {
    for (const char* text :
         {"3x3", "4x4:node=5", "3x4:cable=+0@4=0.3", "4mx3", "2x2x2:link=+0@0", "5x3:node=7=0.5",
          "4x4:node=5:node=6:node=9:node=10", "4x4x8:twist=0=2+4:twist=1=2+4",
          "6mx2:cable=+0@4=0.1:cable=+0@5=0.1", "4x4:link=-1@3=0.2:link=+0@7=0.4"}) {
        const Fabric fabric = Fabric::parse(text);
        for (const Collective collective :
             {allreduce, reduce_scatter, allgather, bcast, reduce, gather, scatter, alltoall}) {
            const ThroughputBound found = throughput_bound(fabric, collective, 1).value();
            SCOPED_TRACE(std::string(to_string(collective)) + " on " + text);
            if (collective != alltoall || !found.part_of.empty()) {
                EXPECT_NEAR(found.vectors(), by_proof(fabric, collective, found), 1e-12);
            }
            const bool leads_out = collective == bcast || collective == reduce ||
                                   collective == gather || collective == scatter;
            if (leads_out) {
                EXPECT_EQ(found.part_of[1], 0) << "the root is in the part that it reaches";
            }
        }
    }
}

/// Every partition of a few ranks, one after the other.
double best_of_all_partitions(const Fabric& fabric) {
    const auto links = fabric.links();
    const auto ranks = static_cast<std::size_t>(fabric.ranks());
    std::vector<int> part_of(ranks);
    double best = 0;
    const auto visit = [&](auto&& self, std::size_t rank, int parts) -> void {
        if (rank == ranks) {
            double rate = 0;
            for (const FabricLink& link : links) {
                rate += part_of[static_cast<std::size_t>(link.from)] !=
                                part_of[static_cast<std::size_t>(link.to)]
                            ? link.rate / 1000.0
                            : 0;
            }
            best = parts > 1 ? std::max(best, 2.0 * (parts - 1) / rate) : best;
            return;
        }
        for (int part = 0; part <= parts; ++part) {
            part_of[rank] = part;
            self(self, rank + 1, std::max(parts, part + 1));
        }
    };
    visit(visit, 0, 0);
    return best;
}

TEST(Bounds, OfAllreduceAreTheWidestOfAllPartitions) {
    for (const char* text :
         {"3x3", "8", "2x4:cable=+1@1=0.2:cable=+1@5=0.2", "3mx3m:cable=+0@1=0.1:cable=+1@4=0.3",
          "4mx2:cable=+0@2=0.1:cable=+0@3=0.15", "3x3:node=4:cable=+0@0=0.4",
          "8m:cable=+0@3=0.7:cable=+0@5=0.2"}) {
        const Fabric fabric = Fabric::parse(text);
        EXPECT_NEAR(throughput_bound(fabric, allreduce)->vectors(), best_of_all_partitions(fabric),
                    1e-12)
            << text;
    }
}

TEST(Bounds, AreRefusedWhereRanksCannotReachEachOther) {
    EXPECT_THROW(bound("4m:cable=+0@1", allreduce), Error);
    EXPECT_FALSE(throughput_bound(Fabric::parse("3x3"), barrier).has_value());
    EXPECT_FALSE(throughput_bound(Fabric::parse("3x3"), scan).has_value());
}

TEST(Bounds, OfLatencyAreStepsAndHops) {
    EXPECT_EQ(latency_bound(Fabric::parse("3x3"), allreduce).steps, 2);
    EXPECT_EQ(latency_bound(Fabric::parse("3x3"), allreduce).hops, 2);
    EXPECT_EQ(latency_bound(Fabric::parse("8"), allreduce).hops, 4);
    EXPECT_EQ(latency_bound(Fabric::parse("8:cable=+0@3"), allreduce).hops, 7);
    EXPECT_EQ(latency_bound(Fabric::parse("8:cable=+0@3"), bcast, 1).hops, 5);
}

}  // namespace
}  // namespace trefoil
