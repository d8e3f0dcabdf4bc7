// SPDX-License-Identifier: BSD-3-Clause
// Planner and connected schedules, without other ranks: what is chosen is what is planned, and a
// schedule is connected once.
#include "comm/communicator/planner.hpp"

#include <gtest/gtest.h>

#include <new>

#include "comm/plan/chooser.hpp"
#include "tests/comm/communicator/group_double.hpp"
#include "tests/comm/plan/build_options.hpp"
#include "tests/comm/setup/bootstrap_double.hpp"
#include "topo/blob.hpp"

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

/// Rank 0 of 2, all that a planner needs.
struct RankAlone {
    explicit RankAlone(BootstrapDouble::Speaker speaker = {})
        : bootstrap(0, 2, std::move(speaker)) {
        asked = {};
        channels.groups.push_back(
            std::make_unique<GroupDouble>(std::vector<Port>{Port{0}, Port{1}}));
        channels.slots = Executor::landing_slots;
        channels.slot_bytes = limits.slot_bytes;
        engine.emplace(channels.groups, port_threads, false);
        executor.emplace(channels, *engine, ExecutorOptions{});
        setup.emplace(channels);
        schedules.emplace(map, 0, agreement, *setup, *executor);
        planner.emplace(map, limits, channels, *schedules, *executor);
    }

    const SegmentLimits limits{1 << 16, 1 << 16, 1 << 18};
    const TorusMap map = make_torus_map({"test", "2", {}}, 2);
    BootstrapDouble bootstrap;
    Agreement agreement{bootstrap};
    Channels channels;
    PortThreads port_threads{0, {}};
    std::optional<Engine> engine;
    std::optional<Executor> executor;
    std::optional<ChannelSetup> setup;
    std::optional<ConnectedSchedules> schedules;
    std::optional<Planner> planner;
};

const Request request{.collective = Collective::allgather, .type = DataType::int32, .count = 100};

TEST(Planner, EveryOptionThatIsChosenReachesTheSchedule) {
    for (const BuildOptions& options : options_with_one_field_set()) {
        RankAlone rank;
        Request rooted = request;
        rooted.root = options.root;
        const Chooser chooser(rank.map, {}, [&](auto&&...) { return Choice{&silent, options}; });
        const auto plan = rank.planner->plan(rooted, chooser.choose(rooted, false));
        for (const auto& seen : {asked.builder, asked.landing_vectors, asked.owners}) {
            ASSERT_FALSE(seen.empty());
            for (const BuildOptions& one : seen) {
                EXPECT_EQ(one, options) << plan->text;
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

TEST(ConnectedSchedules, AreConnectedOnce) {
    RankAlone rank;
    const Schedule* const first = &rank.schedules->get({&silent, {}}, false, "call");
    EXPECT_EQ(rank.bootstrap.allgathers, 2) << "offers, and how connecting went";
    EXPECT_EQ(&rank.schedules->get({&silent, {}}, false, "another call"), first);
    EXPECT_EQ(rank.bootstrap.allgathers, 2);
    rank.schedules->get({&silent, {}}, true, "call");
    EXPECT_EQ(rank.bootstrap.allgathers, 4) << "acknowledged ones need the channels back";
    rank.schedules->get({&silent, {}}, true, "call");
    rank.schedules->get({&silent, {}}, false, "call");
    EXPECT_EQ(rank.bootstrap.allgathers, 4);
    rank.schedules->get({&silent, {.pieces = 2}}, false, "call");
    EXPECT_EQ(rank.bootstrap.allgathers, 6) << "other options are another schedule";
}

std::string why_out_of_step(RankAlone& rank, Status status) {
    try {
        rank.schedules->get({&silent, {}}, false, "my call");
        ADD_FAILURE() << "went on";
    } catch (const OutOfStep& error) {
        EXPECT_EQ(error.status(), status);
        return error.what();
    }
    return {};
}

TEST(ConnectedSchedules, RanksWithOtherCallsAreOutOfStep) {
    RankAlone rank([](Rank, std::string mine) {
        const auto at = mine.find("my call");
        return at == std::string::npos ? mine : mine.replace(at, 2, "no");
    });
    EXPECT_EQ(why_out_of_step(rank, Status::mismatch),
              "the ranks disagree about the call: rank 0: my call; rank 1: no call");
}

/// As where more connections end at one port group than notifications can name.
TEST(ConnectedSchedules, ARankThatCannotTakeItsConnectionsStopsAll) {
    RankAlone rank([&](Rank, const std::string&) {
        BlobWriter failure;
        failure.number(Status::unsupported);
        failure.text("more than 1024");
        return failure.bytes();
    });
    EXPECT_EQ(why_out_of_step(rank, Status::unsupported),
              "rank 1 cannot set up its connections: more than 1024 (while preparing my call)");
    EXPECT_EQ(rank.bootstrap.allgathers, 1) << "nobody connects";
}

/// What else the first call needs, and one rank may lack.
TEST(ConnectedSchedules, WhatIsPreparedCanFailOnAllRanksOnly) {
    RankAlone rank;
    const auto out_of_memory = [](const Schedule&) { throw std::bad_alloc(); };
    try {
        rank.schedules->get({&silent, {}}, false, "my call", out_of_memory);
        ADD_FAILURE() << "went on";
    } catch (const OutOfStep& error) {
        EXPECT_EQ(error.status(), Status::out_of_memory);
    }
    EXPECT_EQ(rank.bootstrap.allgathers, 2) << "the others have heard it";
}

TEST(ConnectedSchedules, ARankThatCannotConnectStopsAll) {
    int round = 0;
    RankAlone rank([&](Rank, const std::string& mine) {
        BlobWriter failure;
        failure.number(Status::unsupported);
        failure.text("the cable is loose");
        return ++round == 2 ? failure.bytes() : mine;
    });
    EXPECT_EQ(why_out_of_step(rank, Status::unsupported),
              "rank 1 cannot set up its connections: the cable is loose (while preparing my call)");
    round = 10;
    rank.schedules->get({&silent, {}}, false, "my call");
    EXPECT_GT(asked.builder.size(), 1U) << "what is not connected is not kept";
}

}  // namespace
}  // namespace trefoil::test
