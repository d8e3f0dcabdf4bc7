// SPDX-License-Identifier: BSD-3-Clause
// Packed trees: schedules that the verifier proves, and loads close to the bound.
#include "algorithms/packing/packed.hpp"

#include <gtest/gtest.h>

#include "algorithms/analysis/verify.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

using enum Collective;

constexpr Collective packed_collectives[] = {allreduce, reduce_scatter, allgather, bcast, reduce};

void prove(const Fabric& fabric, Collective collective, Rank root, Block pieces) {
    const ScheduleSet set = packed_schedules(fabric, collective, root, pieces);
    const Verification proof = verify(set.torus, {collective, set.root, set.owners}, set.schedules);
    ASSERT_TRUE(proof.ok()) << proof.errors[0];
    EXPECT_TRUE(proof.identical_results);
}

const char* const networks[] = {"1",
                                "2",
                                "2m",
                                "9",
                                "8:cable=+0@3",
                                "2x2",
                                "3x3",
                                "3x3:cable=+0@4",
                                "3x3:cable=+0@4=0.5",
                                "3x3:link=+0@4",
                                "3x4",
                                "3mx4m",
                                "4x4",
                                "4x4:node=5",
                                "4x4:node=5:node=6:node=9:node=10",
                                "4x4:node=5=0.5",
                                "4mx4m",
                                "5x3:node=3:cable=+0@8=0.25:link=+1@1=0.75",
                                "2x2x3:node=1",
                                "3x3x3"};

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
    return throughput_bound(fabric, collective)->vectors() / pack_trees(fabric, collective, 0).time;
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
                                part.vector_blocks / static_cast<double>(schedule.parts.size());
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
            EXPECT_NEAR(most, pack_trees(fabric, collective, 0).time, 1e-9)
                << to_string(collective) << " on " << text;
        }
    }
}

TEST(Packed, IsRefusedWhereItDoesNotServe) {
    EXPECT_THROW(packed_schedules(Fabric::parse("3x3"), alltoall, 0, 0), Error);
    EXPECT_THROW(packed_schedules(Fabric::parse("4m:cable=+0@1"), bcast, 0, 0), Error);
}

}  // namespace
}  // namespace trefoil
