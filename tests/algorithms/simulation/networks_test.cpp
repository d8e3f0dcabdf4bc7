// SPDX-License-Identifier: BSD-3-Clause
// Networks other than the plain torus: routes, rates, and one rank that tells of many.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <span>

#include "algorithms/registry/registry.hpp"
#include "algorithms/simulation/grid_network.hpp"
#include "algorithms/simulation/models.hpp"
#include "algorithms/simulation/switch_network.hpp"
#include "topo/error.hpp"

namespace trefoil::networks_test {
namespace {

constexpr std::size_t enough = std::size_t{1} << 30;
constexpr double rate = 100e9;

GridNetwork grid(const std::string& name, const GridDimension& dimension) {
    const Torus torus = Torus::parse(name);
    return {torus,
            std::vector<GridDimension>(static_cast<std::size_t>(torus.dimensions()), dimension)};
}

GridNetwork boards(const std::string& name, Rank board) {
    return grid(name, {RowKind::boards, rate, 2, board, 0});
}

int hops(const Network& network, Rank from, Rank to) {
    Ways ways;
    network.route(from, to, ways);
    return ways.hops();
}

std::size_t count(const Network& network, Rank from, Rank to) {
    Ways ways;
    network.route(from, to, ways);
    return ways.count();
}

TEST(Boards, are_left_at_the_nearer_end_and_entered_at_the_end_nearer_to_the_target) {
    const GridNetwork network = boards("16", 4);
    EXPECT_EQ(1, hops(network, 1, 2));
    EXPECT_EQ(2, hops(network, 0, 2));   // straight; over the switch it would be 3
    EXPECT_EQ(2, hops(network, 0, 3));   // over the switch; straight it would be 3
    EXPECT_EQ(2, hops(network, 3, 4));   // from end to end
    EXPECT_EQ(4, hops(network, 1, 13));  // 1 to 0, switch, 12 to 13
    EXPECT_EQ(4, hops(network, 2, 14));  // 2 to 3, switch, 15 to 14
    EXPECT_EQ(2, hops(network, 15, 0));  // around
    EXPECT_EQ(1U, count(network, 1, 13));
}

TEST(Boards, share_out_bytes_where_ways_are_equally_long) {
    const GridNetwork network = boards("10", 5);
    EXPECT_EQ(2U, count(network, 0, 3));  // straight, or out of 0 and in at 4
    EXPECT_EQ(2U, count(network, 2, 5));  // out at either end
    EXPECT_EQ(4U, count(network, 2, 7));  // and in at either end
    EXPECT_THROW(boards("9", 4), Error);
}

// Swing's steps in a row of 64: partners at 1, 1, 3, 5, 11, 21.
TEST(Boards, have_the_known_loads_of_swing) {
    const std::map<Rank, std::array<double, 6>> known{{2, {1, 1, 2, 2, 2, 2}},
                                                      {4, {1, 1, 4, 4, 4, 4}}};
    for (const auto& [board, loads] : known) {
        const GridNetwork network = boards("64", board);
        std::int64_t distance = 1, sense = 1;
        for (const double expected : loads) {
            std::map<std::int64_t, double> load;
            Ways ways;
            for (Rank i = 0; i < 2 * 64; ++i) {  // the plain part and the mirrored one
                const Rank r = i % 64;
                const std::int64_t by =
                    (r + i / 64) % 2 == 0 ? sense * distance : -sense * distance;
                network.route(r, network.torus().shifted(r, 0, by), ways);
                for (std::size_t w = 0; w < ways.count(); ++w) {
                    for (const std::int64_t link : ways.links(w)) {
                        load[link] += ways.share(w);
                    }
                }
            }
            double most = 0;
            for (const auto& [link, sum] : load) {
                most = std::max(most, sum);
            }
            EXPECT_DOUBLE_EQ(expected, most) << "boards of " << board << ", distance " << distance;
            distance = 2 * distance - sense;  // 1, 1, 3, 5, 11, 21
            sense = -sense;
        }
    }
}

TEST(Switch, has_two_hops_and_a_link_for_each_port) {
    SwitchNetwork network(Torus::parse("4x4"), rate);
    EXPECT_EQ(16 * 4 * 2, network.links());
    Ways through_plus, through_minus;
    network.route({0, 10, Port::plus(0), false}, through_plus);
    network.route({0, 10, Port::minus(0), false}, through_minus);
    EXPECT_EQ(2, through_plus.hops());
    EXPECT_NE(through_plus.links(0)[0], through_minus.links(0)[0]);
    network.change_rate(*network.link(0, Port::plus(0)), 0);
    EXPECT_THROW(network.route({0, 10, Port::plus(0), false}, through_plus), Error);
}

TEST(Host, has_its_own_rate_and_latency) {
    const Torus torus = Torus::parse("4x4");
    const GridNetwork network(torus,
                              {{RowKind::ring, rate}, {RowKind::host, 2 * rate, 2, 2, 3e-7}});
    Ways ways;
    network.route(0, 2, ways);
    EXPECT_EQ(0, ways.hops());
    EXPECT_DOUBLE_EQ(3e-7, ways.delay(2e-6, 1e-6)) << "nothing starts up outside";
    EXPECT_DOUBLE_EQ(2 * rate, network.rate(ways.links(0)[0]));
    network.route(0, 6, ways);  // one hop, then inside the node
    EXPECT_DOUBLE_EQ(3.3e-6, ways.delay(2e-6, 1e-6));
}

TEST(Pairs, have_one_link_or_two) {
    GridDimension dimension{RowKind::ring, rate};
    EXPECT_EQ(2U, count(grid("2", dimension), 0, 1));
    dimension.links = 1;
    const GridNetwork one = grid("2", dimension);
    EXPECT_EQ(1U, count(one, 0, 1));
    EXPECT_EQ(one.link(0, Port::plus(0)), one.link(0, Port::minus(0)));
}

TEST(Rates, differ_by_dimension_and_link) {
    const Torus torus = Torus::parse("4x4");
    GridNetwork network(torus, {{RowKind::ring, rate}, {RowKind::ring, rate / 4}});
    const Traffic traffic(torus, find_algorithm(Collective::allreduce, "bucket"), {}, enough);
    const GridNetwork even = grid("4x4", {RowKind::ring, rate / 4});
    // Both parts of bucket use either dimension in turn, so the slower links decide.
    EXPECT_NEAR(step_time(even, traffic, 1e6, {0, 0}), step_time(network, traffic, 1e6, {0, 0}),
                1e-12);
    const GridNetwork fast = grid("4x4", {RowKind::ring, rate});
    const double before = flow_time(fast, traffic, 1e6, {0, 0});
    GridNetwork slow = fast;
    slow.change_rate(*slow.link(5, Port::plus(0)), rate / 2);
    EXPECT_GT(flow_time(slow, traffic, 1e6, {0, 0}), 1.2 * before);
}

// One rank of each class must tell what all ranks together tell.
void compare_folded(const Network& network, const std::string& what) {
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.alike == nullptr || !algorithm.refusal(network.torus()).empty()) {
            continue;
        }
        const auto symmetry = common_symmetry(network, algorithm, {});
        if (symmetry->trivial()) {
            continue;
        }
        const Traffic all(network.torus(), algorithm, {}, enough);
        const Traffic some(network.torus(), algorithm, {}, {enough, false}, symmetry);
        const auto folded = network.folded(symmetry);
        EXPECT_LT(folded->links(), network.links());
        const MessageCosts costs{1e-6, 2e-7};
        for (const double bytes : {0.0, 1e3, 1e6}) {
            const double step = step_time(network, all, bytes, costs);
            EXPECT_NEAR(step, step_time(*folded, some, bytes, costs), 1e-9 * step)
                << algorithm.name << " on " << what;
            for (const FlowOptions& options :
                 {FlowOptions{}, FlowOptions{.step_sync = true}, FlowOptions{.per_port = 1},
                  FlowOptions{.gap = 5e-7, .sends_complete = true}}) {
                const double flow = flow_time(network, all, bytes, costs, options);
                EXPECT_NEAR(flow, flow_time(*folded, some, bytes, costs, options), 1e-9 * flow)
                    << algorithm.name << " on " << what;
            }
        }
    }
}

TEST(Symmetry, tells_what_all_ranks_together_tell) {
    compare_folded(grid("8", {RowKind::ring, rate}), "ring of 8");
    compare_folded(grid("4x6", {RowKind::ring, rate}), "4x6");
    compare_folded(grid("3x3", {RowKind::full, rate}), "HyperX 3x3");
    compare_folded(boards("8x4", 2), "Hx2Mesh 8x4");
    compare_folded(SwitchNetwork(Torus::parse("4x4"), rate), "switch 4x4");
    compare_folded(GridNetwork(Torus::parse("4x2"),
                               {{RowKind::ring, rate}, {RowKind::host, 2 * rate, 2, 2, 1e-7}}),
                   "nodes of 2");
    compare_folded(GridNetwork(Torus::parse("4x4"), {{RowKind::ring, rate}, {RowKind::line, rate}}),
                   "ring by line");
}

// Without sorting the ranks, which takes milliseconds on large tori.
TEST(Symmetry, counts_its_classes_without_them) {
    for (const char* shape : {"1", "12", "4x3", "8x4", "6x6", "2x3x4", "1x5"}) {
        const Torus torus = Torus::parse(shape);
        EXPECT_EQ(torus.ranks(), Symmetry::classes_by(torus, {}));
        for (Rank first = 0; first < torus.ranks(); ++first) {
            for (Rank second = 0; second < torus.ranks(); ++second) {
                const Rank generators[] = {first, second};
                for (const std::size_t count : {std::size_t{1}, std::size_t{2}}) {
                    const std::span<const Rank> some(generators, count);
                    EXPECT_EQ(Symmetry(torus, some).classes(), Symmetry::classes_by(torus, some))
                        << shape << ", " << first << ", " << second;
                }
            }
        }
    }
}

TEST(Symmetry, is_only_what_the_network_keeps) {
    const Algorithm& bucket = find_algorithm(Collective::allreduce, "bucket");
    const auto classes = [&](const Network& network) {
        return common_symmetry(network, bucket, {})->classes();
    };
    GridNetwork torus = grid("4x4", {RowKind::ring, rate});
    EXPECT_EQ(1, classes(torus));
    EXPECT_EQ(4, classes(boards("4x4", 2)));
    EXPECT_EQ(16, classes(grid("4x4", {RowKind::line, rate})));
    torus.change_rate(0, rate / 2);
    EXPECT_EQ(16, classes(torus));
    BuildOptions single;
    single.single_port = true;
    EXPECT_EQ(16, common_symmetry(grid("4x4", {RowKind::ring, rate}), bucket, single)->classes());
}

}  // namespace
}  // namespace trefoil::networks_test
