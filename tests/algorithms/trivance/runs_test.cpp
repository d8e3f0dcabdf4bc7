// SPDX-License-Identifier: BSD-3-Clause
// The plans behind trivance-l: every ring size, no contribution twice, the loads that are due.
#include "algorithms/trivance/runs.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <thread>

namespace trefoil {
namespace {

using Offsets = std::set<Rank>;

/// Adds `other`, seen from `by` further along the ring; false when they share an offset.
bool add(Offsets& to, const Offsets& other, std::int64_t by, Rank size) {
    const std::size_t expected = to.size() + other.size();
    for (const Rank o : other) {
        to.insert(static_cast<Rank>(((o + by) % size + size) % size));
    }
    return to.size() == expected;
}

/// All coordinates do alike, so one set of offsets per buffer tells the whole ring.
void run(const BufferedPattern& program) {
    std::vector<Offsets> buffers(1 + program.accumulators);
    buffers[0] = {0};
    for (const BufferedPattern::Step& step : program.steps) {
        for (const int accumulator : step.copies) {
            buffers[1 + accumulator] = buffers[0];
        }
        const std::vector<Offsets> sent = buffers;
        for (const RunMessage& m : step.messages) {
            ASSERT_FALSE(sent[m.source].empty());
            const std::int64_t by = static_cast<std::int64_t>(m.side) * m.distance;
            ASSERT_TRUE(add(buffers[0], sent[m.source], by, program.size));
            for (const RunTarget& t : m.targets) {
                Offsets& accumulator = buffers[1 + t.accumulator];
                if (t.replace) {
                    accumulator.clear();
                }
                ASSERT_TRUE(add(accumulator, sent[m.source], by, program.size));
            }
        }
    }
    EXPECT_EQ(buffers[0].size(), static_cast<std::size_t>(program.size));
}

double total_load(const TrivancePattern& plan) {
    double total = 0;
    for (const auto& step : plan.steps) {
        total += run_step_load(step, plan.size);
    }
    return total;
}

TEST(TrivanceRuns, StepsAreTheLogarithmRoundedUp) {
    EXPECT_EQ(trivance_steps(1), 0);
    EXPECT_EQ(trivance_steps(2), 1);
    EXPECT_EQ(trivance_steps(3), 1);
    EXPECT_EQ(trivance_steps(4), 2);
    EXPECT_EQ(trivance_steps(9), 2);
    EXPECT_EQ(trivance_steps(10), 3);
    EXPECT_EQ(trivance_steps(2147483647), 20);
}

TEST(TrivanceRuns, EverySizeIsCoveredOnce) {
    for (Rank n = 1; n <= 140; ++n) {
        SCOPED_TRACE(n);
        const auto plan = trivance_pattern(n);
        EXPECT_EQ(plan->steps.size(), static_cast<std::size_t>(trivance_steps(n)));
        for (const auto& step : plan->steps) {
            EXPECT_GE(step.size(), 1U);
            EXPECT_LE(step.size(), 2U);
        }
        EXPECT_GE(total_load(*plan), (n - 1) / 2.0);
        run(*buffered_pattern(n));
    }
}

TEST(TrivanceRuns, ContiguousPlansCoverEverySizeOnce) {
    for (Rank n = 3; n <= 140; ++n) {
        SCOPED_TRACE(n);
        const TrivancePattern plan = contiguous_pattern(n);
        EXPECT_EQ(plan.steps.size(), static_cast<std::size_t>(trivance_steps(n)));
        EXPECT_GE(total_load(plan), total_load(*trivance_pattern(n)));
        run(buffered_pattern(plan));
    }
}

TEST(TrivanceRuns, SpreadPlansMendSizesBelowPowersOfThree) {
    const std::pair<Rank, Rank> known[] = {{22, 11}, {23, 11}, {25, 12}, {26, 13}, {61, 31},
                                           {65, 36}, {73, 36}, {76, 40}, {78, 39}};
    for (const auto& [n, load] : known) {
        SCOPED_TRACE(n);
        const auto contiguous = static_cast<Rank>(total_load(contiguous_pattern(n)));
        const std::optional<TrivancePattern> plan = spread_pattern(n, contiguous);
        ASSERT_TRUE(plan.has_value());
        EXPECT_EQ(total_load(*plan), load);
        run(buffered_pattern(*plan));
    }
    EXPECT_FALSE(spread_pattern(25, 12).has_value()) << "12 is the least possible";
}

TEST(TrivanceRuns, ClustersOfThreeFollowThePlanOfAThird) {
    EXPECT_EQ(total_load(*trivance_pattern(3 * 73)), 1 + 3 * 36);
    run(*buffered_pattern(3 * 73));
}

TEST(TrivanceRuns, LargeSizesAreCoveredOnce) {
    for (const Rank n : {243, 244, 256, 512, 728, 730, 1000, 1024, 2186, 2187, 4096}) {
        SCOPED_TRACE(n);
        EXPECT_EQ(trivance_pattern(n)->steps.size(), static_cast<std::size_t>(trivance_steps(n)));
        run(*buffered_pattern(n));
    }
}

TEST(TrivanceRuns, OneSidedPlansCoverEverySizeOnce) {
    for (Rank n = 1; n <= 300; ++n) {
        SCOPED_TRACE(n);
        const TrivancePattern plan = one_sided_pattern(n);
        EXPECT_EQ(plan.steps.size(), static_cast<std::size_t>(trivance_steps(n)));
        const BufferedPattern program = buffered_pattern(plan);
        EXPECT_LE(program.accumulators, trivance_steps(n));
        run(program);
    }
}

TEST(TrivanceRuns, PowersOfThreeSendWholeWindows) {
    Rank distance = 1;
    for (Rank n = 3; n <= 6561; n *= 3) {
        EXPECT_EQ(buffered_pattern(n)->accumulators, 0);
        const auto plan = trivance_pattern(n);
        for (const RunTransfer& t : plan->steps.back()) {
            EXPECT_EQ(t.distance, distance);
            EXPECT_EQ(t.width, distance);
        }
        EXPECT_EQ(total_load(*plan), (n - 1) / 2);
        distance *= 3;
    }
}

TEST(TrivanceRuns, LoadsAreTheLeastKnown) {
    const std::pair<Rank, double> known[] = {
        {4, 2},   {5, 2},   {6, 2.5},  {7, 3},    {8, 4},    {10, 4.5},  {16, 8},   {18, 8.5},
        {32, 16}, {64, 33}, {100, 50}, {127, 63}, {128, 64}, {243, 121}, {256, 128}};
    for (const auto& [n, load] : known) {
        EXPECT_EQ(total_load(*trivance_pattern(n)), load) << n;
    }
}

TEST(TrivanceRuns, ThreadsShareOnePlan) {
    std::vector<std::shared_ptr<const BufferedPattern>> found(4);
    std::vector<std::thread> threads;
    for (auto& program : found) {
        threads.emplace_back([&program] { program = buffered_pattern(200); });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    for (const auto& program : found) {
        EXPECT_EQ(program, found[0]);
    }
}

}  // namespace
}  // namespace trefoil
