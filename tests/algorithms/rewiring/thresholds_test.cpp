// SPDX-License-Identifier: BSD-3-Clause
// Thresholds of halving and doubling: against all subsets of wired steps, the closed form, and
// published claims.
#include "algorithms/rewiring/thresholds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "algorithms/rewiring/rewiring.hpp"
#include "tests/algorithms/rewiring/search.hpp"
#include "topo/error.hpp"

namespace trefoil::thresholds_test {
namespace {

constexpr double ns = 1e-9, us = 1e-6;
constexpr double byte = 0.01 * ns;  // 800 Gbit/s

ThresholdModel model_of(Rank nodes, double bytes, double hop, double change) {
    return {.nodes = nodes, .hop = hop, .vector = bytes * byte, .change = change};
}

/// All 2^s sets of wired steps, changes counted as they happen.
double best_subset(const ThresholdModel& model, Phase phase) {
    const int steps = threshold_steps(model);
    double best = 1e9;
    for (unsigned wired = 0; wired < 1U << steps; ++wired) {
        std::vector<int> order;  // of steps
        for (int k = 0; k < steps; ++k) {
            order.push_back(k);
        }
        if (phase == Phase::allgather) {
            std::reverse(order.begin(), order.end());
        }
        double sum = 0;
        int stands = -1;  // the ring; else whose circuits
        for (const int k : order) {
            const int wanted = (wired >> k & 1U) != 0 ? k : -1;
            sum += wanted != stands ? model.change : 0;
            stands = wanted;
            sum += wanted < 0 ? ring_step(model, k) : circuit_step(model, k);
        }
        sum += model.give_back && stands >= 0 ? model.change : 0;
        best = std::min(best, sum);
    }
    return best;
}

TEST(Thresholds, are_as_good_as_any_set_of_wired_steps) {
    for (const Rank n : {2, 4, 8, 16, 32}) {
        for (const double bytes : {32.0, 1024.0, 16384.0, 1048576.0, 1073741824.0}) {
            for (const double hop : {0.0, 10 * ns, 500 * ns, 1 * us}) {
                for (const double change : {0.0, 10 * ns, 1 * us, 10 * us, 1000 * us}) {
                    for (const bool back : {false, true}) {
                        ThresholdModel model = model_of(n, bytes, hop, change);
                        model.give_back = back;
                        for (const Phase phase : {Phase::reduce_scatter, Phase::allgather}) {
                            EXPECT_NEAR(best_subset(model, phase),
                                        best_threshold(model, phase).seconds, 1e-15)
                                << n << " " << bytes << " " << hop << " " << change;
                        }
                    }
                }
            }
        }
    }
}

TEST(Thresholds, have_a_closed_form) {
    for (Rank n = 2; n <= 256; n *= 2) {
        for (double bytes = 1024; bytes <= 1 << 30; bytes *= 4) {
            for (const double hop : {3 * ns, 100 * ns, 700 * ns}) {
                for (double change = 10 * ns; change < 1e-2; change *= 3.3) {
                    const ThresholdModel model = model_of(n, bytes, hop, change);
                    EXPECT_EQ(closed_threshold(model),
                              best_threshold(model, Phase::reduce_scatter).steps)
                        << n << " " << bytes << " " << hop << " " << change;
                }
            }
        }
    }
}

TEST(Thresholds, pay_at_any_size_below_a_change_that_is_known) {
    const double factors[] = {2, 3.67, 6.5, 11.4, 20, 35.3};
    int i = 0;
    for (Rank n = 8; n <= 256; n *= 2, ++i) {
        const double limit = change_that_pays_at_any_size(model_of(n, 0, 1, 0));
        EXPECT_NEAR(factors[i], limit, 0.005 * factors[i]);
        for (const double bytes : {32.0, 1e6, 1e9, 1e12}) {
            EXPECT_FALSE(best_threshold(model_of(n, bytes, 1 * us, 0.999 * limit * us),
                                        Phase::reduce_scatter)
                             .falls_back());
        }
        EXPECT_TRUE(
            best_threshold(model_of(n, 1e12, 1 * us, 1.001 * limit * us), Phase::reduce_scatter)
                .falls_back());
    }
}

// The statement of arXiv 2510.03491, section 4: 32 nodes, no start-up, 800 Gbit/s.
TEST(Thresholds, give_the_tables_of_the_published_setting) {
    struct Row {
        double bytes, change, hop;
        int threshold;
        double gain;  // over Ring; 1: Ring
    };
    const double m = 1e6;  // the paper's MB
    const Row rows[] = {
        {32, 10 * ns, 100 * ns, 1, 5.74},     {32, 10 * ns, 500 * ns, 1, 6.10},
        {32, 10 * ns, 1 * us, 1, 6.15},       {32, 100 * ns, 100 * ns, 1, 3.44},
        {32, 100 * ns, 500 * ns, 1, 5.34},    {32, 100 * ns, 1 * us, 1, 5.74},
        {32, 1 * us, 100 * ns, 4, 1.19},      {32, 1 * us, 500 * ns, 2, 2.58},
        {32, 1 * us, 1 * us, 1, 3.44},        {32, 10 * us, 100 * ns, 5, 1},
        {32, 10 * us, 500 * ns, 5, 1},        {32, 10 * us, 1 * us, 4, 1.19},
        {4 * m, 10 * ns, 100 * ns, 1, 1.07},  {4 * m, 10 * ns, 500 * ns, 1, 1.31},
        {4 * m, 10 * ns, 1 * us, 1, 1.59},    {32 * m, 10 * ns, 100 * ns, 1, 1.01},
        {32 * m, 10 * ns, 500 * ns, 1, 1.04}, {32 * m, 10 * ns, 1 * us, 1, 1.08},
        {4 * m, 10 * us, 100 * ns, 1, 1},     {4 * m, 10 * us, 500 * ns, 1, 1},
    };
    for (const Row& row : rows) {
        const Threshold best =
            best_threshold(model_of(32, row.bytes, row.hop, row.change), Phase::reduce_scatter);
        EXPECT_EQ(row.threshold, best.steps) << row.bytes << " " << row.change << " " << row.hop;
        EXPECT_NEAR(row.gain, best.ring / best.with_fallback(), 0.0051)
            << row.bytes << " " << row.change << " " << row.hop;
    }
}

// Halving on the ring takes so many times as long as Ring: 16 nodes, reduce-scatter.
TEST(Thresholds, give_the_ratio_of_the_static_schedules) {
    const auto ratio = [](double bytes, double hop) {
        const ThresholdModel model = model_of(16, bytes, hop, 0);
        return threshold_seconds(model, Phase::reduce_scatter, 4) /
               ring_algorithm(model, Phase::reduce_scatter);
    };
    EXPECT_NEAR(1.00, ratio(32, 10 * ns), 0.005);
    EXPECT_NEAR(1.57, ratio(16e3, 10 * ns), 0.005);
    EXPECT_NEAR(1.60, ratio(18e3, 10 * ns), 0.005);
    EXPECT_NEAR(2.13, ratio(1e12, 10 * ns), 0.005);
    EXPECT_NEAR(1.01, ratio(16e3, 1 * us), 0.005);
}

TEST(Thresholds, of_an_allreduce_are_twice_those_of_its_reduce_scatter) {
    for (const Rank n : {4, 16, 32}) {
        for (int t = 1; t <= threshold_steps(model_of(n, 1, 1, 1)); ++t) {
            const ThresholdModel model = model_of(n, 1e6, 500 * ns, 1 * us);
            EXPECT_NEAR(2 * threshold_seconds(model, Phase::reduce_scatter, t),
                        threshold_seconds(model, Phase::allreduce, t), 1e-15);
        }
    }
}

TEST(Thresholds, refuse_other_than_powers_of_two) {
    EXPECT_THROW(best_threshold(model_of(12, 1, 1, 1), Phase::reduce_scatter), Error);
    EXPECT_THROW(best_threshold(model_of(0, 1, 1, 1), Phase::allreduce), Error);
}

// The same from the schedules of the library, whose messages are wired step by step.
TEST(Thresholds, are_the_optimum_of_the_proved_schedules) {
    const std::array phases{
        std::pair(Phase::reduce_scatter,
                  std::pair(Collective::reduce_scatter, "recursive-halving")),
        std::pair(Phase::allgather, std::pair(Collective::allgather, "recursive-doubling")),
        std::pair(Phase::allreduce, std::pair(Collective::allreduce, "recursive-doubling-b"))};
    for (const auto& [phase, what] : phases) {
        for (const Rank n : {2, 4, 8, 32, 128}) {
            for (const Tie tie : {Tie::one, Tie::both}) {
                BuildOptions single;
                single.single_port = true;
                const Rewiring rewiring(Torus({n}), find_algorithm(what.first, what.second), single,
                                        {.tie = tie});
                for (const double bytes : {1024.0, 1048576.0, 1073741824.0}) {
                    for (const double change : {10 * ns, 300 * ns, 3 * us, 30 * us}) {
                        for (const bool back : {false, true}) {
                            ThresholdModel model = model_of(n, bytes, 200 * ns, change);
                            model.tie = tie;
                            model.give_back = back;
                            const RewiringCosts costs{.hop = 200 * ns,
                                                      .byte = byte,
                                                      .reconfiguration = change / 4,
                                                      .barrier = change * 3 / 4,
                                                      .give_back = back};
                            const double expected = best_threshold(model, phase).seconds;
                            EXPECT_NEAR(expected, rewiring.optimum(costs, bytes).seconds,
                                        1e-12 * expected)
                                << what.second << " " << n << " " << bytes << " " << change;
                        }
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace trefoil::thresholds_test
