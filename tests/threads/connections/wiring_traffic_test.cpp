// SPDX-License-Identifier: BSD-3-Clause
// Channels of many communicators that come and go at random, over every transport: what is put
// arrives whole and where it belongs, and all memory is given back.
#include <gtest/gtest.h>

#include "backend/ports/forwarding_group.hpp"
#include "tests/backend/registry/transports_to_test.hpp"
#include "tests/backend/strict/strict.hpp"
#include "tests/threads/connections/traffic.hpp"
#include "tests/threads/executor/loose_group.hpp"

namespace trefoil::test {
namespace {

MakeStationGroups loose_groups(unsigned seed) {
    return [seed](Rank rank, const std::vector<std::vector<Port>>& ports) {
        std::vector<std::unique_ptr<PortGroup>> groups;
        for (const auto& of_group : ports) {
            groups.push_back(std::make_unique<LooseGroup>(
                of_group,
                seed + static_cast<unsigned>(rank) * 97 + static_cast<unsigned>(groups.size())));
        }
        return groups;
    };
}

/// Notifications of 32 bits: proofs travel in records alone.
class NarrowGroup final : public ForwardingGroup {
  public:
    explicit NarrowGroup(std::unique_ptr<PortGroup> inner) : ForwardingGroup(std::move(inner)) {
        traits_.notification_bits = 32;
    }
    PutResult put(const Put& put) override {
        Put narrow = put;
        narrow.notification = static_cast<std::uint32_t>(put.notification);
        return inner().put(narrow);
    }
};

/// Answers have a source for ever; all else is given back.
void expect_reuse(const TrafficFigures& figures) {
    EXPECT_EQ(figures.used,
              figures.connections * LandingArena::aligned(MailboxLayout::answer_bytes));
    EXPECT_GT(figures.early, 0U);
    EXPECT_EQ(figures.repeated, 0U);
}

TEST(WiringTraffic, TwoRanks) {
    TrafficPlan plan;
    plan.communicators = 300;
    plan.threads = true;
    expect_reuse(run_traffic(plan, groups_of("memory")));
}

TEST(WiringTraffic, NineRanksWithAGroupForEachPort) {
    TrafficPlan plan;
    plan.ranks = 9;
    plan.group_per_port = true;
    plan.communicators = 100;
    plan.threads = true;
    expect_reuse(run_traffic(plan, groups_of("memory")));
}

TEST(WiringTraffic, AThousandCommunicatorsReuseMemory) {
    TrafficPlan plan;
    plan.ranks = 4;
    plan.communicators = 1000;
    plan.largest_slot = 4096;
    const TrafficFigures figures = run_traffic(plan, groups_of("memory"));
    expect_reuse(figures);
    EXPECT_GT(figures.late, 0U);
    EXPECT_LT(figures.held, figures.wanted / 4);
}

TEST(WiringTraffic, SixtyFourRanks) {
    TrafficPlan plan;
    plan.ranks = 64;
    plan.ports = 6;
    plan.communicators = 12;
    plan.threads = true;
    expect_reuse(run_traffic(plan, groups_of("memory")));
}

TEST(WiringTraffic, LooseGroupsWithFewPutsUnderWay) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        TrafficPlan plan;
        plan.ranks = 3;
        plan.communicators = 100;
        plan.seed = seed;
        expect_reuse(run_traffic(plan, loose_groups(seed)));
    }
}

TEST(WiringTraffic, StrictGroups) {
    const strict::Encounters before = strict::encounters();
    for (const bool threads : {false, true}) {
        TrafficPlan plan;
        plan.ranks = 3;
        plan.communicators = 60;
        plan.threads = threads;
        expect_reuse(run_traffic(plan, groups_of("strict")));
    }
    EXPECT_GT(strict::encounters().overtaken, before.overtaken);
    EXPECT_GT(strict::encounters().refused, before.refused);
}

TEST(WiringTraffic, NarrowNotifications) {
    TrafficPlan plan;
    plan.ranks = 3;
    plan.communicators = 100;
    expect_reuse(run_traffic(plan, [](Rank rank, const std::vector<std::vector<Port>>& ports) {
        std::vector<std::unique_ptr<PortGroup>> groups;
        for (auto& group : groups_of("strict")(rank, ports)) {
            groups.push_back(std::make_unique<NarrowGroup>(std::move(group)));
        }
        return groups;
    }));
}

class WiringTransports : public testing::TestWithParam<TransportToTest> {};

TEST_P(WiringTransports, CarryTheChannelsOfManyCommunicators) {
    TrafficPlan plan;
    plan.ranks = 3;
    plan.communicators = 60;
    plan.threads = true;
    expect_reuse(run_traffic(plan, groups_of(GetParam().backend, GetParam().provider)));
}

INSTANTIATE_TEST_SUITE_P(All, WiringTransports, testing::ValuesIn(transports_to_test()),
                         name_of_transport);

}  // namespace
}  // namespace trefoil::test
