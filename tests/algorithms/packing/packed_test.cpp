// SPDX-License-Identifier: BSD-3-Clause
// Packed trees and routes: schedules that the verifier proves, and loads close to the bound.
#include "algorithms/packing/packed.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <tuple>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

using enum Collective;

constexpr Collective packed_collectives[] = {allreduce, reduce_scatter, allgather, bcast,
                                             reduce,    gather,         scatter,   alltoall};

void prove(const Fabric& fabric, Collective collective, Rank root, Block pieces) {
    const ScheduleSet set = packed_schedules(fabric, collective, root, pieces);
    const Verification proof = verify(set.torus, {collective, set.root, set.owners}, set.schedules);
    ASSERT_TRUE(proof.ok()) << proof.errors[0];
    EXPECT_TRUE(proof.identical_results || !traits_of(collective).reduces);
}

const char* const networks[] = {
    "1", "2", "2m", "9", "8:cable=+0@3", "2x2", "3x3", "3x3:cable=+0@4", "3x3:cable=+0@4=0.5",
    "3x3:link=+0@4", "3x4", "3mx4m", "4x4", "4x4:node=5", "4x4:node=5:node=6:node=9:node=10",
    "4x4:node=5=0.5", "4mx4m", "5x3:node=3:cable=+0@8=0.25:link=+1@1=0.75", "2x2x3:node=1",
    "2x4:twist=0=1+2", "3x3x3",
    // Links too slow for a copy of their own, which trees need.
    "3x3:node=4=0.04", "3x3:node=4=0.001", "8m:cable=+0@3=0.09", "8m:cable=+0@3=0.001",
    "2x4m:link=+1@1=0.001:link=+1@5=0.003", "4mx2:cable=+0@2=0.001:cable=+0@3=0.001"};

TEST(Packed, IsProvedOnEveryNetwork) {
    for (const char* text : networks) {
        const Fabric fabric = Fabric::parse(text);
        for (const Collective collective : packed_collectives) {
            for (const Rank root : {Rank{0}, fabric.ranks() / 2}) {
                SCOPED_TRACE(std::string(to_string(collective)) + " on " + text + " from root " +
                             std::to_string(root));
                prove(fabric, collective, root, 1);
                prove(fabric, collective, root, 3);
            }
        }
    }
}

/// Of the bound, what the busiest link of the trees needs.
double reached(const std::string& text, Collective collective) {
    const Fabric fabric = Fabric::parse(text);
    return throughput_bound(fabric, collective)->vectors() / packed_time(fabric, collective, 0);
}

TEST(Packed, ReachesTheBound) {
    for (const char* text :
         {"9", "8:cable=+0@3", "3x3", "3x3:cable=+0@4", "3x3:cable=+0@4=0.5", "3x4", "3mx4m", "4x4",
          "4x4:node=5", "4x4:node=5=0.5", "4x4:node=5:node=6:node=9:node=10", "4mx4m", "8x8",
          "8x8:node=9", "4x4x4:cable=+0@21", "4x4x8:twist=0=2+4:twist=1=2+4"}) {
        for (const Collective collective : packed_collectives) {
            const double share = reached(text, collective);
            EXPECT_LE(share, 1 + 1e-9) << to_string(collective) << " on " << text;
            EXPECT_GE(share, 0.95) << to_string(collective) << " on " << text;
        }
    }
}

// Two trees would need a little more than its links have, and each copy of them leaves some over.
TEST(Packed, ReachesTheBoundOfManyRanksWhereTwoTreesDoNotFit) {
    const PackedTrees found =
        pack_trees(Fabric::parse("12x12:node=0:node=13:node=26"), allreduce, 0);
    EXPECT_LE(found.time, 35.0 / 69 / 0.95);
}

TEST(FewTrees, AreFewAndWithinATenthOfTheBound) {
    for (const auto& [text, few, many] : {std::tuple{"3x3:cable=+0@4", 2, 17},
                                          {"3x3:cable=+0@4=0.5", 2, 13},
                                          {"3mx4m", 3, 17},
                                          {"4x8", 2, 33},
                                          {"4x4:node=5", 2, 2},
                                          {"2x3x2", 3, 13}}) {
        const Fabric fabric = Fabric::parse(text);
        const PackedTrees found = pack_trees(fabric, allreduce, 0, few_trees_are_close);
        EXPECT_EQ(std::ssize(found.packing.trees), few) << text;
        EXPECT_EQ(std::ssize(pack_trees(fabric, allreduce, 0).packing.trees), many) << text;
        EXPECT_GE(throughput_bound(fabric, allreduce)->vectors() / found.time, 0.9) << text;
        const Torus torus = Torus::of_fabric(fabric);
        const Verification proof =
            verify(torus, find_algorithm(allreduce, "few-trees"), {.pieces = 3});
        EXPECT_TRUE(proof.ok()) << text << ": " << proof.errors[0];
    }
}

/// Rows, meshes, nodes and links that are missing or slow, as the numbers have it.
std::string drawn(std::mt19937& random) {
    const auto below = [&](std::size_t n) { return static_cast<int>(random() % n); };
    const auto one_of = [&](auto... texts) {
        return std::array<std::string, sizeof...(texts)>{texts...}[random() % sizeof...(texts)];
    };
    const int dimensions = 1 + below(3);
    int places = 1;
    std::string text;
    for (int j = 0; j < dimensions; ++j) {
        const int size = 1 + below(dimensions == 3 ? 3 : 5);
        places *= size;
        text += (j > 0 ? "x" : "") + std::to_string(size) + one_of("", "", "m");
    }
    const auto number = [&](int end) {
        return std::to_string(random() % static_cast<unsigned>(end));
    };
    for (int i = below(3); i > 0; --i) {
        text += ":node=" + number(places) + one_of("", "=0.5", "=0.3");
    }
    for (int i = below(4); i > 0; --i) {
        text += one_of(":cable=", ":link=") + one_of("+", "-") + number(dimensions) + "@" +
                number(places) + one_of("", "=0.5", "=0.25", "=0.7");
    }
    return text;
}

TEST(Packed, RoutesAreProvedOnDrawnNetworks) {
    std::mt19937 random(5);
    int networks = 0, far = 0;
    while (networks < 50) {
        const std::string text = drawn(random);
        std::optional<Fabric> fabric;
        try {
            fabric = Fabric::parse(text);
        } catch (const Error&) {
            continue;  // it names a link that there is not
        }
        if (!fabric->is_connected() || fabric->ranks() == 1) {
            continue;
        }
        ++networks;
        for (const Collective collective : {gather, scatter, alltoall}) {
            SCOPED_TRACE(std::string(to_string(collective)) + " on " + text);
            const Rank root = collective == gather ? fabric->ranks() - 1 : 0;
            prove(*fabric, collective, root, 0);
            const double share = reached(text, collective);
            EXPECT_LE(share, 1 + 1e-9);
            EXPECT_GE(share, 0.8);
            far += share < 0.95 ? 1 : 0;
        }
    }
    EXPECT_LE(far, 3 * networks / 20);
}

// No link carries more than the busiest one is said to, in the schedules themselves.
TEST(Packed, LoadsLinksAsItSays) {
    for (const char* text : {"3x3:cable=+0@4", "3x3:cable=+0@4=0.5", "4mx4m", "2x4"}) {
        const Fabric fabric = Fabric::parse(text);
        for (const Collective collective : packed_collectives) {
            const ScheduleSet set = packed_schedules(fabric, collective, 0, 4);
            double most = 0;
            for (const Schedule& schedule : set.schedules) {
                std::vector<double> load(static_cast<std::size_t>(set.torus.ports()));
                for (const Part& part : schedule.parts) {
                    for (const Step& step : schedule.of(part)) {
                        for (const Send& send : schedule.sends_of(step)) {
                            ASSERT_GT(fabric.rate({schedule.rank, send.port}), 0)
                                << to_string(collective) << " on " << text << " sends over a link "
                                << "that is down";
                            load[static_cast<std::size_t>(send.port.index)] +=
                                static_cast<double>(block_count(schedule.extents_of(send))) /
                                traits_of(collective).received_of(part.vector_blocks) /
                                static_cast<double>(schedule.parts.size());
                        }
                    }
                }
                for (int p = 0; p < set.torus.ports(); ++p) {
                    const int rate = fabric.rate({schedule.rank, Port{p}});
                    most = rate == 0
                               ? most
                               : std::max(most, load[static_cast<std::size_t>(p)] * 1000 / rate);
                }
            }
            EXPECT_NEAR(most, packed_time(fabric, collective, 0), 1e-9)
                << to_string(collective) << " on " << text;
        }
    }
}

// As close to the bound as trees for slow links come: each of these is for one.
TEST(Packed, HasTreesWhereAllNeedSlowLinks) {
    for (const char* text : {"3x3:node=4=0.04", "3x3:node=4=0.001", "8m:cable=+0@3=0.09",
                             "8m:cable=+0@3=0.001", "4x4:node=5=0.02"}) {
        for (const Collective collective : packed_collectives) {
            EXPECT_GE(reached(text, collective), 0.95) << to_string(collective) << " on " << text;
        }
    }
}

// There each rank reaches all, but no cable leads there and back.
TEST(Packed, ServesRingsOfOneWayButForAllreduce) {
    const Fabric ring = Fabric::parse("3:link=+0@0:link=+0@1:link=+0@2");
    for (const Collective collective : packed_collectives) {
        SCOPED_TRACE(to_string(collective));
        if (collective == allreduce) {
            EXPECT_NE(packed_refusal(ring, collective).find("that work both ways"),
                      std::string::npos);
            EXPECT_THROW(packed_schedules(ring, collective, 0, 0), Error);
        } else {
            EXPECT_EQ(packed_refusal(ring, collective), "");
            prove(ring, collective, 1, 2);
        }
    }
}

// What waits for a slow link alone does not pass step by step.
TEST(Packed, HasNoEmptySteps) {
    for (const Collective collective : {allgather, reduce_scatter, gather, scatter, alltoall}) {
        const ScheduleSet set =
            packed_schedules(Fabric::parse("8m:cable=+0@3=0.001"), collective, 0, 0);
        for (std::size_t p = 0; p < set.schedules.front().parts.size(); ++p) {
            EXPECT_LT(set.schedules.front().of(set.schedules.front().parts[p]).size(), 64U)
                << to_string(collective);
        }
    }
}

TEST(Packed, AlltoallIsRefusedWhereALinkWouldHaveTooManyMessages) {
    const Algorithm& packed = find_algorithm(alltoall, "packed");
    EXPECT_NE(packed.refusal(Torus::parse("140m")).find("4900 blocks"), std::string::npos);
    EXPECT_EQ(packed.refusal(Torus::parse("128m")), "");
    EXPECT_EQ(packed.refusal(Torus::parse("16x16")), "");
}

TEST(Packed, IsRefusedWhereItDoesNotServe) {
    EXPECT_THROW(packed_schedules(Fabric::parse("3x3"), barrier, 0, 0), Error);
    EXPECT_THROW(packed_schedules(Fabric::parse("4m:cable=+0@1"), bcast, 0, 0), Error);
}

CostSummary cost(const std::string& text, Collective collective, std::string_view name,
                 Block pieces = 0) {
    const Torus torus = Torus::parse(text);
    return ModelSummaries(torus).of(find_algorithm(collective, name), {.pieces = pieces});
}

// A price tells detours and slow links.
TEST(Packed, IsPricedByTheNetwork) {
    // Half of each block's trees of the ring go over the link that is down, seven hops the other
    // way, and so load the link beside it twice.
    EXPECT_EQ(cost("8", allgather, "ring").sum_hops, 7);
    EXPECT_EQ(cost("8:cable=+0@3", allgather, "ring").sum_hops, 49);
    EXPECT_GT(cost("8:cable=+0@3", allgather, "ring").sum_link_load, 1.9 * 7 / 16);
    EXPECT_NEAR(cost("8:link=+0@3=0.5", allgather, "ring").sum_link_load, 2 * 7.0 / 16, 1e-9);
    const double packed = pack_trees(Fabric::parse("3x3:cable=+0@4=0.5"), allreduce, 0).time;
    const CostSummary one = cost("3x3:cable=+0@4=0.5", allreduce, "packed", 1);
    EXPECT_NEAR(one.busiest_link, packed, packed / 100);
    EXPECT_NEAR(with_pieces(one, {.pieces = 4096}).sum_link_load, packed, packed / 50);
    // Links are busy in all steps: the sum of what the busiest one of each carries is no more.
    for (const Collective collective : {scatter, alltoall}) {
        const double bound =
            throughput_bound(Fabric::parse("3x3:cable=+0@4"), collective)->vectors();
        EXPECT_LE(cost("3x3:cable=+0@4", collective, "packed").sum_link_load, bound / 0.95);
    }
}

TEST(Packed, BuildsForOneRankAfterTheOther) {
    const Torus torus = Torus::parse("3x3:cable=+0@4");
    for (const Collective collective : packed_collectives) {
        const Algorithm& algorithm = find_algorithm(collective, "packed", &torus);
        const Verification proof = verify(torus, algorithm, {});
        EXPECT_TRUE(proof.ok()) << proof.errors[0];
        const ScheduleSet set = packed_schedules(Fabric(torus), collective, 0, 0);
        EXPECT_NEAR(algorithm.landing(torus, {}), landing_needs(set).vectors, 1e-9);
    }
    EXPECT_FALSE(
        find_algorithm(allreduce, "packed").refusal(Torus::parse("4m:cable=+0@1")).empty());
    EXPECT_FALSE(find_algorithm(alltoall, "packed").refusal(Torus::parse("4m:cable=+0@1")).empty());
    EXPECT_FALSE(find_algorithm(alltoall, "packed").refusal(Torus({17, 16})).empty());
    EXPECT_TRUE(find_algorithm(scatter, "packed").refusal(Torus({17, 16})).empty());
}

TEST(Packed, SaysForHowManyRanksItIs) {
    const auto refusal = [](Collective collective, const char* text) {
        return find_algorithm(collective, "packed").refusal(Torus::parse(text));
    };
    for (const Collective collective : {allreduce, bcast, reduce}) {
        EXPECT_EQ(refusal(collective, "64x64"), "");
        EXPECT_NE(refusal(collective, "64x65").find("is for up to 4096 ranks"), std::string::npos);
    }
    EXPECT_EQ(refusal(allgather, "16x32:node=9"), "");
    EXPECT_NE(refusal(allgather, "16x33").find("allgather is for up to 512 ranks"),
              std::string::npos);
}

// At once, and never above the bound that is proved; on these networks it is that one.
TEST(Packed, KnowsAQuickBound) {
    const auto quick = [](const char* text, Collective collective, Rank root) {
        const Fabric fabric = Fabric::parse(text);
        const bool goes_back = collective == reduce || collective == reduce_scatter;
        const auto links = goes_back ? reversed(fabric.links()) : fabric.links();
        return quick_bound(links, fabric.ranks(), collective, root) /
               throughput_bound(fabric, collective, root)->vectors();
    };
    for (const char* text : networks) {
        for (const Collective collective : packed_collectives) {
            if (Fabric::parse(text).ranks() > 1 && !goes_by_routes(collective)) {
                EXPECT_LE(quick(text, collective, 0), 1 + 1e-9)
                    << to_string(collective) << " on " << text;
            }
        }
    }
    for (const Collective collective : {allreduce, reduce_scatter, allgather, bcast, reduce}) {
        EXPECT_NEAR(quick("8x8", collective, 3), 1, 1e-9) << to_string(collective);
        EXPECT_NEAR(quick("4x4:node=5", collective, 0), 1, 1e-9) << to_string(collective);
        EXPECT_NEAR(quick("3x3:link=+0@4", collective, 4), 1, 1e-9) << to_string(collective);
    }
    EXPECT_LT(quick("6m:cable=+0@2=0.5", allreduce, 0), 0.9);
}

}  // namespace
}  // namespace trefoil
