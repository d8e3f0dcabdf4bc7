// SPDX-License-Identifier: BSD-3-Clause
// What can be asked of the models: work at the node, messages per port, jitter.
#include <gtest/gtest.h>

#include "algorithms/registry/registry.hpp"
#include "algorithms/simulation/grid_network.hpp"
#include "algorithms/simulation/models.hpp"

namespace trefoil::options_test {
namespace {

constexpr std::size_t enough = std::size_t{1} << 30;
constexpr double rate = 100e9;

GridNetwork ring_network(const std::string& name) {
    const Torus torus = Torus::parse(name);
    return {torus, std::vector<GridDimension>(static_cast<std::size_t>(torus.dimensions()),
                                              {RowKind::ring, rate})};
}

Traffic traffic_with_work(const Network& network, Collective collective, std::string_view name) {
    return {network.torus(),
            find_algorithm(collective, name),
            {},
            {enough, true},
            std::make_shared<const Symmetry>(network.torus())};
}

TEST(Work, is_done_after_what_has_arrived) {
    const GridNetwork network = ring_network("2");
    const Traffic traffic = traffic_with_work(network, Collective::bcast, "linear");
    MessageCosts costs{1e-6, 0, 10e9, 0};
    const double expected = 1e-6 + 1e6 / 2 / rate + 1e6 / 10e9;  // half of the bytes each way
    EXPECT_NEAR(expected, flow_time(network, traffic, 1e6, costs), 1e-12);
    EXPECT_NEAR(expected, step_time(network, traffic, 1e6, costs), 1e-12);
}

// Both parts' halves arrive at once, and a rank reduces one after the other.
TEST(Work, of_a_rank_is_one_after_the_other) {
    const GridNetwork network = ring_network("2");
    const Traffic traffic =
        traffic_with_work(network, Collective::allreduce, "recursive-doubling-l");
    ASSERT_EQ(2U, traffic.parts());
    const MessageCosts idle{1e-6, 0}, costs{1e-6, 0, 0, 5e9};
    EXPECT_NEAR(1e6 / 5e9,
                step_time(network, traffic, 1e6, costs) - step_time(network, traffic, 1e6, idle),
                1e-12);
    EXPECT_NEAR(1e6 / 5e9,
                flow_time(network, traffic, 1e6, costs) - flow_time(network, traffic, 1e6, idle),
                1e-12);
}

TEST(Work, that_takes_next_to_no_time_changes_nothing) {
    const GridNetwork network = ring_network("3x4");
    for (const char* name : {"swing-b", "bucket", "recursive-doubling-b", "trivance-l"}) {
        const Traffic traffic = traffic_with_work(network, Collective::allreduce, name);
        const double without = flow_time(network, traffic, 1e6, {1e-6, 2e-7});
        EXPECT_NEAR(without, flow_time(network, traffic, 1e6, {1e-6, 2e-7, 1e21, 1e21}),
                    1e-6 * without)
            << name;
    }
}

// The root's messages go to 1 and 2 through one port, to 3 and 4 through the other.
TEST(PerPort, messages_wait_for_those_before_them) {
    const GridNetwork network = ring_network("5");
    const Traffic traffic(network.torus(), find_algorithm(Collective::bcast, "linear"), {}, enough);
    EXPECT_NEAR(1.2e-6, flow_time(network, traffic, 0, {1e-6, 1e-7}), 1e-12);
    EXPECT_NEAR(2.3e-6, flow_time(network, traffic, 0, {1e-6, 1e-7}, {.per_port = 1}), 1e-12);
    EXPECT_NEAR(1.2e-6, flow_time(network, traffic, 0, {1e-6, 1e-7}, {.per_port = 2}), 1e-12);
}

// Through its port the root's second message starts up later, and gathering it takes in the second
// one later.
TEST(Gap, keeps_messages_apart_that_leave_or_come_through_one_port) {
    const GridNetwork network = ring_network("5");
    const auto time = [&](Collective collective, const FlowOptions& options) {
        const Traffic traffic(network.torus(), find_algorithm(collective, "linear"), {}, enough);
        return flow_time(network, traffic, 0, {1e-6, 1e-7}, options);
    };
    EXPECT_NEAR(1.7e-6, time(Collective::bcast, {.gap = 0.5e-6}), 1e-12);
    EXPECT_NEAR(1.2e-6, time(Collective::gather, {}), 1e-12);
    EXPECT_NEAR(1.6e-6, time(Collective::gather, {.gap = 0.5e-6}), 1e-12);
}

// Whose steps wait for what they send: the root's second message leaves after the first one.
TEST(CompleteSends, hold_up_the_sender) {
    const GridNetwork network = ring_network("5");
    const Traffic traffic(network.torus(), find_algorithm(Collective::bcast, "linear"), {}, enough);
    EXPECT_NEAR(2.3e-6, flow_time(network, traffic, 0, {1e-6, 1e-7}, {.sends_complete = true}),
                1e-12);
    const Traffic exchange(network.torus(), find_algorithm(Collective::allreduce, "bucket"), {},
                           enough);
    EXPECT_DOUBLE_EQ(flow_time(network, exchange, 1e6, {1e-6, 1e-7}),
                     flow_time(network, exchange, 1e6, {1e-6, 1e-7}, {.sends_complete = true}));
}

TEST(Jitter, is_the_same_for_a_seed_and_within_its_bound) {
    const GridNetwork network = ring_network("8");
    const Traffic traffic(network.torus(), find_algorithm(Collective::allreduce, "swing-l"), {},
                          enough);
    const auto time = [&](double jitter, std::uint64_t seed) {
        return flow_time(network, traffic, 0, {1e-6, 1e-7}, {.jitter = jitter, .seed = seed});
    };
    const double without = time(0, 1), one = time(1e-6, 1), other = time(1e-6, 2);
    EXPECT_EQ(one, time(1e-6, 1));
    EXPECT_NE(one, other);
    for (const double late : {one, other}) {
        EXPECT_GT(late, without);
        EXPECT_LT(late, without + static_cast<double>(traffic.steps()) * 1e-6);
    }
}

}  // namespace
}  // namespace trefoil::options_test
