// SPDX-License-Identifier: BSD-3-Clause
// The simulator's models against values worked out by hand, and against the cost model.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/simulation/fair_rates.hpp"
#include "algorithms/simulation/grid_network.hpp"
#include "algorithms/simulation/models.hpp"
#include "topo/error.hpp"

namespace trefoil::models_test {
namespace {

constexpr std::size_t enough = std::size_t{1} << 30;
constexpr double rate = 100e9;

GridNetwork torus_network(const std::string& name, RowKind kind = RowKind::ring) {
    const Torus torus = Torus::parse(name);
    return {torus, std::vector<GridDimension>(torus.dimensions(), {kind, rate})};
}

Traffic traffic_of(const std::string& torus, std::string_view name,
                   Collective collective = Collective::allreduce) {
    return {Torus::parse(torus), find_algorithm(collective, name), {}, enough};
}

TEST(FairRates, LetEveryFlowHaveWhatItsBusiestLinkLeaves) {
    GridNetwork network = torus_network("9");
    FairRates rates(network);
    const auto link = [&](Rank r) { return *network.link(r, Port::plus(0)); };
    const std::array first{link(0), link(1)};
    const std::array second{link(1), link(2)};
    const std::array third{link(1)};
    const std::array fourth{link(2)};
    const auto a = rates.add(first), b = rates.add(second), c = rates.add(third);
    const auto d = rates.add(fourth);
    EXPECT_EQ(4U, rates.update().size());
    EXPECT_DOUBLE_EQ(rate / 3, rates.rate(a));
    EXPECT_DOUBLE_EQ(rate / 3, rates.rate(b));
    EXPECT_DOUBLE_EQ(rate * 2 / 3, rates.rate(d));
    rates.remove(c);
    rates.remove(a);
    rates.update();
    EXPECT_DOUBLE_EQ(rate / 2, rates.rate(b));
    EXPECT_DOUBLE_EQ(rate / 2, rates.rate(d));
}

TEST(FairRates, AreWorkedOutAnewOnlyWhereAChangeIsFelt) {
    GridNetwork network = torus_network("9");
    FairRates rates(network);
    const std::array here{*network.link(0, Port::plus(0))};
    const std::array there{*network.link(5, Port::plus(0))};
    const auto a = rates.add(here);
    rates.update();
    rates.add(there);
    ASSERT_EQ(1U, rates.update().size());
    EXPECT_DOUBLE_EQ(rate, rates.rate(a));
}

TEST(Routes, GoTheShorterWayOrBoth) {
    const GridNetwork network = torus_network("4x5");
    Ways ways;
    network.route(0, 7, ways);  // (1, 2)
    ASSERT_EQ(1U, ways.count());
    EXPECT_EQ(3, ways.hops());
    network.route(0, 10, ways);  // (2, 0): both ways round
    ASSERT_EQ(2U, ways.count());
    EXPECT_DOUBLE_EQ(0.5, ways.share(1));
    network.route({0, 10, Port::minus(0), true}, ways);
    ASSERT_EQ(1U, ways.count());
    EXPECT_EQ(*network.link(0, Port::minus(0)), ways.links(0)[0]);
}

TEST(Routes, AvoidALinkThatIsDown) {
    GridNetwork network = torus_network("6");
    network.change_rate(*network.link(1, Port::plus(0)), 0);
    Ways ways;
    network.route(0, 2, ways);
    EXPECT_EQ(4, ways.hops());
    network.change_rate(*network.link(4, Port::minus(0)), 0);
    EXPECT_THROW(network.route(0, 2, ways), Error);
}

TEST(Routes, OfAMeshDoNotWrapAndOfAFullRowAreOneLink) {
    Ways ways;
    torus_network("6", RowKind::line).route(0, 5, ways);
    EXPECT_EQ(5, ways.hops());
    torus_network("6x6", RowKind::full).route(0, 35, ways);
    EXPECT_EQ(2, ways.hops());
}

TEST(StepModel, AgreesWithTheCostModelOnTori) {
    for (const char* torus : {"8", "9", "2x3", "3x3", "4x4", "2x2x2"}) {
        const GridNetwork network = torus_network(torus);
        for (const Algorithm& algorithm : algorithms()) {
            if (!algorithm.refusal(network.torus()).empty()) {
                continue;
            }
            const Traffic traffic(network.torus(), algorithm, {}, enough);
            CostModel model;
            model.alpha = 1e-6;
            model.tau = 2e-7;
            model.beta = 1 / rate;
            CostSummary cost = summarize(network.torus(), algorithm);
            cost.steps_at_once = 0;  // a barrier after every step
            cost.hops_at_once = 0;
            cost.load_at_once = 0;
            const double expected = model.time(cost, 1e6);
            EXPECT_NEAR(expected, step_time(network, traffic, 1e6, {1e-6, 2e-7}), expected * 1e-9)
                << algorithm.name << " on " << torus;
        }
    }
}

TEST(FlowModel, IsTheStepModelWhereAllDoTheSameAtTheSameTime) {
    const GridNetwork network = torus_network("3x3");
    for (const char* name : {"bucket", "trivance-l", "trivance-b"}) {
        const Traffic traffic = traffic_of("3x3", name);
        const double steps = step_time(network, traffic, 1e6, {1e-6, 2e-7});
        EXPECT_NEAR(steps, flow_time(network, traffic, 1e6, {1e-6, 2e-7}), steps * 1e-9) << name;
    }
}

// Rank 0's tree of four: 0 sends to 2 and then, without waiting, to 1; 2 to 3.
TEST(FlowModel, SendersDoNotWaitForTheirOwnMessages) {
    const GridNetwork network = torus_network("4");
    const Traffic traffic = traffic_of("4", "linear", Collective::bcast);
    // The root's steps have no receives: all messages are posted at once and start at 1 us and
    // hops.
    const double time = flow_time(network, traffic, 0, {1e-6, 1e-7});
    EXPECT_NEAR(1.2e-6, time, 1e-12);
}

TEST(FlowModel, StepSyncHoldsPartsTogether) {
    const GridNetwork network = torus_network("4x8");
    const Traffic traffic = traffic_of("4x8", "swing-b");
    const double free = flow_time(network, traffic, 1e6, {1e-6, 2e-7});
    const double together = flow_time(network, traffic, 1e6, {1e-6, 2e-7}, {.step_sync = true});
    EXPECT_LE(free, together * (1 + 1e-9));
}

/// Sums and ends of what a run tells.
struct Noted final : FlowObserver {
    void arrived(std::uint64_t, double begin, double end) override {
        EXPECT_LE(begin, end);
        last = std::max(last, end);
        ++messages;
    }
    void completed(std::size_t, double time) override {
        last_step = std::max(last_step, time);
        ++steps;
    }
    void carried(std::int64_t, double from, double to, double bytes) override {
        EXPECT_LT(from, to);
        EXPECT_LE(bytes, rate * (to - from) * (1 + 1e-9));
        link_bytes += bytes;
    }
    double last = 0, last_step = 0, link_bytes = 0;
    std::size_t messages = 0, steps = 0;
};

TEST(FlowModel, TellsWhatHappens) {
    const GridNetwork network = torus_network("4x8");
    const Traffic traffic(network.torus(), find_algorithm(Collective::allreduce, "swing-b"), {},
                          enough);
    Noted noted;
    const double time = flow_time(network, traffic, 1e6, {1e-6, 2e-7}, {}, &noted);
    EXPECT_DOUBLE_EQ(time, noted.last);
    EXPECT_DOUBLE_EQ(time, noted.last_step);
    EXPECT_EQ(traffic.first_message(traffic.places()), noted.messages);
    EXPECT_EQ(traffic.places(), noted.steps);
    double expected = 0;  // each message's bytes over each of its links
    for (Rank r = 0; r < traffic.classes(); ++r) {
        for (std::size_t p = 0; p < traffic.parts(); ++p) {
            for (std::size_t s = 0; s < traffic.steps(); ++s) {
                for (const TrafficMessage& m : traffic.sends(traffic.place(r, p, s))) {
                    expected += m.share * 1e6 * static_cast<double>(network.torus().hops(r, m.to));
                }
            }
        }
    }
    EXPECT_NEAR(expected, noted.link_bytes, expected * 1e-9);
}

TEST(FlowModel, TellsOfAllRanksAlone) {
    const GridNetwork network = torus_network("4x4");
    const Algorithm& algorithm = find_algorithm(Collective::allreduce, "bucket");
    const auto symmetry = common_symmetry(network, algorithm, {});
    ASSERT_FALSE(symmetry->trivial());
    const auto folded = network.folded(symmetry);
    const Traffic traffic(network.torus(), algorithm, {}, {enough, false}, symmetry);
    Noted noted;
    EXPECT_THROW(flow_time(*folded, traffic, 1e6, {}, {}, &noted), Error);
}

TEST(Traffic, RefusesMoreMemoryThanAllowed) {
    EXPECT_THROW(
        Traffic(Torus::parse("9x9"), find_algorithm(Collective::allreduce, "bucket"), {}, 1000),
        Error);
}

}  // namespace
}  // namespace trefoil::models_test
