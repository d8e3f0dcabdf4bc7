// SPDX-License-Identifier: BSD-3-Clause
// Schedules on rings whose wiring changes: against exhaustive search, worked-out values, and what
// must hold whatever the figures.
#include "algorithms/rewiring/rewiring.hpp"

#include <gtest/gtest.h>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/rewiring/circuit_loads.hpp"
#include "tests/algorithms/rewiring/search.hpp"
#include "topo/error.hpp"

namespace trefoil::rewiring_test {
namespace {

using test::Graph;
using test::Message;

constexpr double ns = 1e-9, us = 1e-6;
constexpr double byte = 0.01 * ns;  // 800 Gbit/s
constexpr double kib = 1024, mib = kib * kib;

BuildOptions single_port() {
    BuildOptions options;
    options.single_port = true;
    return options;
}

RewiringCosts costs_of(double hop, double change, double alpha = 0) {
    return {.alpha = alpha, .hop = hop, .byte = byte, .reconfiguration = change};
}

const std::string_view swing = "swing";

struct Case {
    Collective collective;
    const char* algorithm;
    std::vector<Rank> sizes;
    bool single = false;
};

const std::vector<Case>& cases() {
    using enum Collective;
    static const std::vector<Case> all{
        {reduce_scatter, "recursive-halving", {4, 8, 16, 32}},
        {reduce_scatter, "recursive-halving", {8, 12, 32}, true},
        {allgather, "recursive-doubling", {8, 12, 32}},
        {reduce_scatter, "swing", {4, 6, 7, 8, 9, 12, 16, 20, 32}},
        {reduce_scatter, "swing", {8, 16}, true},
        {allgather, "swing", {8, 9, 16}},
        {reduce_scatter, "trivance", {3, 5, 8, 9, 10, 16, 27, 32}},
        {allgather, "trivance", {8, 9, 27}},
        {reduce_scatter, "bine", {8, 12, 16, 32}},
        {reduce_scatter, "bine-dh", {8, 16, 32}},
        {allreduce, "swing-b", {4, 8}},
        {allreduce, "trivance-b", {9}},
        {allreduce, "trivance-l", {8, 9, 16, 27}},
        {allreduce, "recursive-doubling-l", {8, 16}},
        {allreduce, "recursive-doubling-b", {4, 8}},
    };
    return all;
}

/// The wirings that `rewiring` has, built anew: strides from their definition.
std::vector<Graph> graphs_of(const Rewiring& rewiring, Rank n) {
    std::vector<Graph> result;
    for (std::size_t g = 0; g < rewiring.wirings(); ++g) {
        const DimensionWiring& wiring = rewiring.wiring(g, 0);
        if (wiring.is_shifted()) {
            result.push_back(test::shifted(n, wiring.stride));
        } else {
            Graph graph;
            for (const Circuit& c : wiring.circuits) {
                graph[c.from][c.to] = c.count;
            }
            result.push_back(std::move(graph));
        }
    }
    return result;
}

TEST(Rewiring, finds_what_exhaustive_search_finds) {
    for (const Case& one : cases()) {
        const BuildOptions build = one.single ? single_port() : BuildOptions{};
        for (const Rank n : one.sizes) {
            const auto steps = test::messages_of(n, one.collective, one.algorithm, build);
            for (const Candidates candidates : {Candidates::own, Candidates::shifted}) {
                if (candidates == Candidates::shifted && n == 32 && one.algorithm != swing) {
                    continue;  // a million sequences each
                }
                const Rewiring rewiring(Torus({n}), find_algorithm(one.collective, one.algorithm),
                                        build, {.candidates = candidates});
                ASSERT_EQ(steps.size(), rewiring.steps());
                const std::vector<Graph> graphs = graphs_of(rewiring, n);
                if (candidates == Candidates::shifted) {
                    EXPECT_GE(graphs.size(), static_cast<std::size_t>(n / 2));
                }
                for (std::size_t i = 0; i < steps.size(); ++i) {
                    const bool refused = std::ranges::any_of(
                        rewiring.unwirable(),
                        [&](const Unwirable& u) { return u.step == rewiring.step(i).step; });
                    EXPECT_NE(refused,
                              std::ranges::any_of(graphs,
                                                  [&](const Graph& graph) {
                                                      return test::joins(graph) ==
                                                             test::joins(test::own(steps[i]));
                                                  }))
                        << one.algorithm << " on " << n << ", step " << i;
                }
                std::vector<std::vector<std::pair<int, double>>> loads;
                for (const auto& step : steps) {
                    auto& of_step = loads.emplace_back();
                    for (const Graph& graph : graphs) {
                        of_step.push_back(test::walked(graph, step));
                    }
                }
                for (const auto& [bytes, hop, change] :
                     {std::tuple(kib, 500 * ns, 1 * us), std::tuple(mib, 500 * ns, 1 * us),
                      std::tuple(64 * mib, 100 * ns, 10 * us),
                      std::tuple(64 * kib, 0.0, 50 * ns)}) {
                    std::vector<std::vector<double>> seconds;
                    for (const auto& of_step : loads) {
                        auto& row = seconds.emplace_back();
                        for (const auto& [hops, load] : of_step) {
                            row.push_back(hops < 0 ? 1e9 : hops * hop + load * bytes * byte);
                        }
                    }
                    for (const bool back : {false, true}) {
                        for (const bool free : {false, true}) {
                            RewiringCosts costs = costs_of(hop, change);
                            costs.give_back = back;
                            costs.free_start = free;
                            const double expected =
                                test::cheapest_of_all(seconds, change, back, free);
                            EXPECT_NEAR(expected, rewiring.optimum(costs, bytes).seconds,
                                        1e-9 * expected)
                                << one.algorithm << " on " << n << ", " << bytes;
                        }
                    }
                }
            }
        }
    }
}

double optimum(Rank n, const char* algorithm, Candidates candidates, double bytes, double hop,
               double change, const BuildOptions& build = {}) {
    const Rewiring rewiring(Torus({n}), find_algorithm(Collective::reduce_scatter, algorithm),
                            build, {.candidates = candidates});
    return rewiring.optimum(costs_of(hop, change), bytes).seconds / us;
}

TEST(Rewiring, gives_the_times_on_sixteen_nodes) {
    struct Row {
        const char* algorithm;
        double small, middle, large;  // us
        bool wired;
    };
    const Row rows[] = {
        {"ring", 7.50, 12.4, 316, false},     {"recursive-halving", 4.01, 9.74, 345, true},
        {"swing", 5.01, 12.5, 483, false},    {"swing", 4.00, 8.92, 335, true},
        {"trivance", 4.01, 12.8, 567, false}, {"trivance", 3.01, 8.415, 335, true}};
    for (const Row& row : rows) {
        const auto time = [&](double bytes, double hop, double change) {
            return optimum(16, row.algorithm, Candidates::shifted, bytes, hop,
                           row.wired ? change : 1.0);
        };
        EXPECT_NEAR(row.small, time(kib, 500 * ns, 1 * us), 0.0051) << row.algorithm;
        EXPECT_NEAR(row.middle, time(mib, 500 * ns, 1 * us), row.middle < 10 ? 0.0051 : 0.051)
            << row.algorithm;
        EXPECT_NEAR(row.large, time(64 * mib, 100 * ns, 10 * us), 0.51) << row.algorithm;
    }
}

TEST(Rewiring, halves_on_few_strides) {
    const Rewiring rewiring(Torus({32}),
                            find_algorithm(Collective::reduce_scatter, "recursive-halving"),
                            single_port(), {.candidates = Candidates::shifted});
    const WiringSequence best = rewiring.optimum(costs_of(1 * us, 10 * us), kib);
    EXPECT_NEAR(20.0 * us, best.seconds, 0.051 * us);
    std::vector<Rank> strides;
    for (const std::size_t g : best.wirings) {
        strides.push_back(rewiring.wiring(g, 0).stride);
    }
    EXPECT_EQ((std::vector<Rank>{1, 1, 4, 4, 4}), strides);
    EXPECT_EQ(1, best.changes);
}

// Step j on C(2^k): 2^(j-k) hops, 1/2^(k+1) of the vector, half of it in the last step.
TEST(Rewiring, halves_on_a_stride_as_the_closed_form_says) {
    const Rank n = 64;
    const Rewiring rewiring(Torus({n}),
                            find_algorithm(Collective::reduce_scatter, "recursive-halving"),
                            single_port(), {.candidates = Candidates::shifted});
    for (std::size_t g = 0; g < rewiring.wirings(); ++g) {
        const Rank stride = rewiring.wiring(g, 0).stride;
        if (stride == 0 || (stride & (stride - 1)) != 0) {
            continue;
        }
        for (int j = 0; j < 6; ++j) {
            const WiringLoad load = rewiring.load(j, g);
            if (stride > 1 << j) {
                EXPECT_FALSE(load.reaches());
                continue;
            }
            EXPECT_EQ((1 << j) / stride, load.hops);
            EXPECT_NEAR(j == 5 ? 0.25 / stride : 0.5 / stride, load.load, 1e-12) << j << stride;
        }
    }
}

TEST(Rewiring, joins_trivance_on_powers_of_three) {
    for (const Rank n : {9, 27, 81}) {
        const Rewiring rewiring(Torus({n}), find_algorithm(Collective::reduce_scatter, "trivance"),
                                {}, {});
        EXPECT_TRUE(rewiring.unwirable().empty());
        EXPECT_EQ(rewiring.steps(), rewiring.wirings());
        for (std::size_t g = 0; g < rewiring.wirings(); ++g) {
            EXPECT_TRUE(rewiring.wiring(g, 0).is_shifted());
        }
    }
}

TEST(Rewiring, changes_once_in_six_steps_for_swing_on_a_torus) {
    const Rewiring rewiring(Torus({8, 8}), find_algorithm(Collective::reduce_scatter, "swing"), {},
                            {});
    const WiringSequence best = rewiring.optimum(costs_of(500 * ns, 100 * ns), kib);
    EXPECT_EQ(6U, rewiring.steps());
    EXPECT_EQ(1, best.changes);
    EXPECT_EQ(3, rewiring.wiring(best.wirings[5], 0).stride);
    EXPECT_EQ(3, rewiring.wiring(best.wirings[5], 1).stride);
}

TEST(Rewiring, leaves_dimensions_without_a_switch_alone) {
    const Rewiring rewiring(Torus({8, 8}), find_algorithm(Collective::reduce_scatter, "swing"), {},
                            {.candidates = Candidates::shifted, .switched = {1}});
    EXPECT_EQ(4U, rewiring.wirings());
    for (std::size_t g = 0; g < rewiring.wirings(); ++g) {
        EXPECT_EQ(1, rewiring.wiring(g, 0).stride);
    }
    EXPECT_THROW(Rewiring(Torus({8}), find_algorithm(Collective::reduce_scatter, "swing"), {},
                          {.switched = {1}}),
                 Error);
}

// Without changes the sum is that of `trefoil plan --summary`.
TEST(Rewiring, costs_what_the_cost_model_says_when_nothing_changes) {
    for (const auto& [torus, algorithm] :
         {std::pair("16", "swing"), std::pair("9", "trivance"), std::pair("4x6", "swing"),
          std::pair("2x3x4", "trivance"), std::pair("5x2", "recursive-halving"),
          std::pair("3x3", "ring"), std::pair("4x4", "direct"), std::pair("12", "bine")}) {
        const Torus shape = Torus::parse(torus);
        const Algorithm& found = find_algorithm(Collective::reduce_scatter, algorithm);
        const CostModel model{.alpha = 1e-6, .tau = 2e-7, .beta = byte};
        const Rewiring rewiring(shape, found, {}, {});
        const double expected = model.time(summarize(shape, found), mib);
        EXPECT_NEAR(expected, rewiring.static_seconds(costs_of(2e-7, 0, 1e-6), mib),
                    1e-9 * expected)
            << torus << algorithm;
    }
    const Torus ring({8});
    const Algorithm& exchange = find_algorithm(Collective::alltoall, "linear");
    const double once =
        CostModel{.alpha = 1e-6, .tau = 2e-7, .beta = byte}.time(summarize(ring, exchange), mib);
    EXPECT_NEAR(once, Rewiring(ring, exchange, {}, {}).static_seconds(costs_of(2e-7, 0, 1e-6), mib),
                1e-9 * once);
    const Torus shape({4, 4});
    const Algorithm& line = find_algorithm(Collective::reduce_scatter, "recursive-halving");
    const Rewiring rewiring(shape, line, single_port(), {.candidates = Candidates::shifted});
    const CostModel model{.alpha = 1e-6, .tau = 2e-7, .beta = byte};
    const double expected = model.time(summarize(shape, line, single_port()), mib);
    EXPECT_NEAR(expected, rewiring.static_seconds(costs_of(2e-7, 0, 1e-6), mib), 1e-9 * expected);
}

// With free changes each step has its own circuits: the last one's partners two parallel ones.
TEST(Rewiring, wires_both_ports_to_a_partner_that_both_send_to) {
    for (const Candidates candidates : {Candidates::own, Candidates::shifted}) {
        EXPECT_NEAR(4 * 0.1 + 15 * mib * 1e-5 / 32,
                    optimum(16, "recursive-halving", candidates, mib, 100 * ns, 0), 1e-9);
    }
    const StepLegs step{.legs = {{{.from = 0, .to = 2, .port = Port::plus(0), .share = 0.5}}}};
    const DimensionWiring parallel{.stride = 0, .circuits = {{0, 1, 1}, {0, 2, 2}, {1, 2, 1}}};
    const WiringLoad load = load_on(Torus({4}), step, 0, parallel);
    EXPECT_EQ(1, load.hops);
    EXPECT_DOUBLE_EQ(0.25, load.load);
}

// On every wiring that carries a step, of rings, tori, ties and nodes with many partners.
TEST(Rewiring, tells_each_circuits_load) {
    int compared = 0;
    for (const auto& [torus, algorithm] :
         {std::pair("16", "recursive-halving"), std::pair("17", "swing"), std::pair("12", "bine"),
          std::pair("8x8", "swing"), std::pair("2x3x4", "trivance"), std::pair("2", "ring")}) {
        for (const Tie tie : {Tie::both, Tie::one}) {
            const Torus shape = Torus::parse(torus);
            const Rewiring rewiring(shape, find_algorithm(Collective::reduce_scatter, algorithm),
                                    {}, {.candidates = Candidates::shifted, .tie = tie});
            for (std::size_t i = 0; i < rewiring.steps(); ++i) {
                for (std::size_t g = 0; g < rewiring.wirings(); ++g) {
                    const WiringLoad load = rewiring.load(i, g);
                    double busiest = 0;
                    for (int j = 0; j < shape.dimensions() && load.reaches(); ++j) {
                        const auto& wiring = rewiring.wiring(g, j);
                        const auto all = circuit_loads(shape, rewiring.step(i), j, wiring);
                        EXPECT_EQ(circuits_of(shape, j, wiring).size(), all.size());
                        for (const double one : all) {
                            busiest = std::max(busiest, one);
                        }
                    }
                    EXPECT_NEAR(load.load, busiest, 1e-12) << torus << " " << algorithm << i << g;
                    compared += load.reaches() ? 1 : 0;
                }
            }
        }
    }
    EXPECT_LT(100, compared);
}

TEST(Rewiring, names_steps_whose_circuits_need_more_ports) {
    const Rewiring direct(Torus({8}), find_algorithm(Collective::reduce_scatter, "direct"), {}, {});
    ASSERT_EQ(1U, direct.unwirable().size());
    EXPECT_EQ(
        "step 0: rank 0 sends to 7 others (1, 2, 3, 4, 5, 6, ...) and has 2 ports in dimension 0",
        direct.unwirable()[0].reason);
    EXPECT_EQ(1U, direct.wirings());
    EXPECT_NO_THROW(static_cast<void>(direct.optimum(costs_of(1, 1), 1)));

    const Rewiring line(Torus({3, 5}),
                        find_algorithm(Collective::reduce_scatter, "recursive-halving"),
                        single_port(), {});
    ASSERT_FALSE(line.unwirable().empty());
    EXPECT_NE(std::string::npos, line.unwirable()[0].reason.find("several dimensions"));
    EXPECT_THROW(Rewiring(Torus({4}), find_algorithm(Collective::allreduce, "single-copy"), {}, {}),
                 Error);
}

// Two circuits of one direction each have four neighbours, which paired circuits cannot serve.
TEST(Rewiring, counts_neighbours_either_way_when_circuits_are_paired) {
    const Algorithm& algorithm = find_algorithm(Collective::allreduce, "trivance-l");
    int wired = 0, paired = 0;
    for (const Rank n : {10, 11, 14, 20}) {
        const Rewiring one_way(Torus({n}), algorithm, {}, {});
        const Rewiring both(Torus({n}), algorithm, {}, {.limits = {.paired = true}});
        wired += static_cast<int>(one_way.unwirable().size());
        paired += static_cast<int>(both.unwirable().size());
    }
    EXPECT_LT(wired, paired);
}

TEST(Rewiring, gets_no_worse_with_more_freedom_or_cheaper_changes) {
    for (const Case& one : cases()) {
        const Rank n = one.sizes.back();
        const BuildOptions build = one.single ? single_port() : BuildOptions{};
        const Algorithm& algorithm = find_algorithm(one.collective, one.algorithm);
        const Rewiring own(Torus({n}), algorithm, build, {});
        const Rewiring shifted(Torus({n}), algorithm, build, {.candidates = Candidates::shifted});
        for (const double bytes : {kib, mib, 1024 * mib}) {
            double before = 0;
            for (double change = 1 * ns; change < 1; change *= 7) {
                RewiringCosts costs = costs_of(300 * ns, change);
                const WiringSequence best = own.optimum(costs, bytes);
                EXPECT_LE(before, best.seconds * (1 + 1e-12));
                EXPECT_LE(best.seconds, own.static_seconds(costs, bytes) * (1 + 1e-12));
                EXPECT_LE(shifted.optimum(costs, bytes).seconds, best.seconds * (1 + 1e-12));
                costs.give_back = true;
                const double given_back = own.optimum(costs, bytes).seconds;
                EXPECT_LE(best.seconds, given_back * (1 + 1e-12));
                EXPECT_LE(given_back, best.seconds + change * (1 + 1e-12));
                before = best.seconds;
            }
            EXPECT_NEAR(own.static_seconds(costs_of(300 * ns, 0), bytes), before, 1e-12 * before);
        }
    }
}

}  // namespace
}  // namespace trefoil::rewiring_test
