// SPDX-License-Identifier: BSD-3-Clause
// Planner and schedules, without other ranks: what is chosen is what is planned, and a schedule is
// built once, with the channels that it needs.
#include "comm/communicator/planner.hpp"

#include <gtest/gtest.h>

#include "comm/plan/chooser.hpp"
#include "tests/comm/communicator/group_double.hpp"
#include "tests/comm/plan/build_options.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

/// What the algorithm below was asked for, by whom.
struct Asked {
    std::vector<BuildOptions> builder, landing_vectors, owners;
};
Asked asked;

/// An allgather that sends nothing, so that it needs no peers.
Schedule build(const Torus& torus, Rank rank, const BuildOptions& options) {
    asked.builder.push_back(options);
    ScheduleWriter writer(rank);
    writer.part(static_cast<Block>(torus.ranks()));
    writer.step();
    return writer.take();
}
double landing_vectors(const Torus&, const BuildOptions& options) {
    asked.landing_vectors.push_back(options);
    return 0;
}
std::vector<Rank> owners(const Torus&, const BuildOptions& options, int) {
    asked.owners.push_back(options);
    return {0, 1};
}
const Algorithm silent{.name = "silent",
                       .collective = Collective::allgather,
                       .summary = {},
                       .paper = {},
                       .shapes = {},
                       .builder = build,
                       .landing_vectors = landing_vectors,
                       .owners = owners};

/// Sends to rank 1 through port +0, and hears from it through port -0.
Schedule build_exchange(const Torus&, Rank rank, const BuildOptions& options) {
    asked.builder.push_back(options);
    if (options.root != 0) {
        throw Error(Status::unsupported, "there is no such root");
    }
    ScheduleWriter writer(rank);
    writer.part(2);
    writer.step();
    const Extent own{0, 1};
    const Extent theirs{1, 1};
    writer.send(1, Port::plus(0), {&own, 1});
    writer.receive(1, Port::minus(0), Action::replace, {&theirs, 1});
    return writer.take();
}
const Algorithm exchange{.name = "exchange",
                         .collective = Collective::allgather,
                         .summary = {},
                         .paper = {},
                         .shapes = {},
                         .builder = build_exchange,
                         .landing_vectors = landing_vectors,
                         .owners = owners};

/// Rank 0 of 2, all that a planner needs.
struct RankAlone {
    explicit RankAlone(std::size_t kept_from = 0) {
        asked = {};
        channels.groups.push_back(
            std::make_unique<GroupDouble>(std::vector<Port>{Port{0}, Port{1}}));
        channels.rings = LandingRings(limits.slot_bytes, 1024);
        engine.emplace(channels.groups, Engine::Member{0, 2}, port_threads, false);
        executor.emplace(channels, *engine, ExecutorOptions{});
        schedules.emplace(geometry, 0, kept_from);
        planner.emplace(map, limits, channels, *schedules, programs, *executor);
    }

    const SegmentLimits limits{1 << 16, 1 << 16, 1 << 18};
    const TorusMap map = make_torus_map({"test", "2", {}}, 2);
    const Geometry geometry = first_geometry(map);
    Channels channels;
    PortThreads port_threads{0, {}};
    std::optional<Engine> engine;
    std::optional<Executor> executor;
    std::optional<Schedules> schedules;
    ProgramPool programs;
    std::optional<Planner> planner;
};

const Request request{.collective = Collective::allgather, .type = DataType::int32, .count = 100};

TEST(Planner, EveryOptionThatIsChosenReachesTheSchedule) {
    for (const BuildOptions& options : options_with_one_field_set()) {
        RankAlone rank;
        Request rooted = request;
        rooted.root = options.root;
        const Chooser chooser(rank.map, {}, [&](auto&&...) {
            return AlgorithmChoice{{&silent, options}};
        });
        const auto plan = rank.planner->plan(rooted, chooser.choose(rooted, {}));
        BuildOptions between_nodes = options;  // what the algorithm itself is asked for
        between_nodes.by_node = false;
        for (const auto& seen : {asked.builder, asked.landing_vectors, asked.owners}) {
            ASSERT_FALSE(seen.empty());
            for (const BuildOptions& one : seen) {
                EXPECT_EQ(one, between_nodes) << plan->text;
            }
        }
        EXPECT_NE(plan->text.find(to_string(Choice{&silent, options})), std::string::npos);
    }
}

TEST(Planner, PlansSegmentsThatShareAProgram) {
    RankAlone rank;
    Request longer = request;
    longer.count = 20'000;  // 160,000 bytes of 65,536
    const auto plan = rank.planner->plan(longer, {&silent, {}});
    ASSERT_EQ(plan->segments.size(), 3U);
    EXPECT_EQ(plan->programs.size(), 2U) << "the last one is shorter";
    EXPECT_EQ(plan->segments[0].program, plan->segments[1].program);
    EXPECT_EQ(plan->segments[1].offset, 4 * 6667U);
    EXPECT_EQ(plan->call.segments.data(), plan->segments.data());
    EXPECT_EQ(plan->call.text, plan->text.c_str());
    EXPECT_EQ(
        rank.planner->plan({.collective = Collective::allgather}, {&silent, {}})->segments.size(),
        0U);
}

TEST(Planner, AddsTheChannelsThatMessagesTake) {
    RankAlone rank;
    Request small = request;
    small.count = 2;
    (void)rank.planner->plan(small, {&exchange, {}});
    ASSERT_EQ(rank.channels.out.size(), 1U);
    ASSERT_EQ(rank.channels.in.size(), 1U);
    EXPECT_EQ(rank.channels.out[0].peer, 1);
    EXPECT_EQ(rank.channels.out[0].port, Port::plus(0));
    EXPECT_EQ(rank.channels.out[0].ring, Ring::tiny);
    EXPECT_EQ(rank.channels.in[0].port, Port::minus(0));
    EXPECT_EQ(rank.channels.in[0].way_back(), InChannel::none);
    (void)rank.planner->plan(request, {&exchange, {}});
    ASSERT_EQ(rank.channels.out.size(), 2U);
    EXPECT_EQ(rank.channels.out[1].ring, Ring::few);
    (void)rank.planner->plan(request, {&exchange, {}});
    EXPECT_EQ(rank.channels.out.size(), 2U);
    EXPECT_EQ(rank.channels.in.size(), 2U);
}

TEST(Planner, AddsTheWayBackWhereMessagesAreAcknowledged) {
    RankAlone rank;
    Request rooted = request;
    rooted.collective = Collective::bcast;
    const auto plan = rank.planner->plan(rooted, {&exchange, {}});
    EXPECT_TRUE(plan->programs.at(0)->acknowledged);
    ASSERT_EQ(rank.channels.out.size(), 2U);
    ASSERT_EQ(rank.channels.in.size(), 2U);
    for (const InChannel& in : rank.channels.in) {
        const bool is_way_back = in.ring == Ring::tiny;
        EXPECT_EQ(in.ring, is_way_back ? Ring::tiny : Ring::many);
        if (!is_way_back) {
            ASSERT_LT(in.way_back(), 2U);
            EXPECT_EQ(rank.channels.out[in.way_back()].port, in.port);
            EXPECT_EQ(rank.channels.out[in.way_back()].ring, Ring::tiny);
        }
    }
    (void)rank.planner->plan(rooted, {&exchange, {}});
    EXPECT_EQ(rank.channels.out.size(), 2U);
}

TEST(Schedules, ThatAreLargeAreBuiltOnce) {
    RankAlone rank;
    const auto first = rank.schedules->get({&exchange, {}});
    EXPECT_EQ(rank.schedules->get({&exchange, {}}), first);
    EXPECT_EQ(asked.builder.size(), 1U);
    EXPECT_NE(rank.schedules->get({&exchange, {.pieces = 2}}), first);
    EXPECT_EQ(asked.builder.size(), 2U);
}

TEST(Schedules, ThatAreSmallAreBuiltAgain) {
    RankAlone rank(Schedules::kept_from_bytes);
    (void)rank.schedules->get({&exchange, {}});
    (void)rank.schedules->get({&exchange, {}});
    EXPECT_EQ(asked.builder.size(), 2U);
}

TEST(Schedules, ThatCannotBeBuiltAreTriedAgain) {
    RankAlone rank;
    for (std::size_t times = 1; times <= 2; ++times) {
        EXPECT_THROW((void)rank.schedules->get({&exchange, {.root = 1}}), Error);
        EXPECT_EQ(asked.builder.size(), times);
    }
}

}  // namespace
}  // namespace trefoil::test
