// SPDX-License-Identifier: BSD-3-Clause
// Who is measured between two sizes of a tuning, and the ranges that follow.
#include "bench/tune/crossovers.hpp"

#include <gtest/gtest.h>

namespace trefoil::tool {
namespace {

using Names = std::vector<std::string>;

Contender contender(const char* name, double median, bool in_final = true) {
    return {.algorithm = name, .seconds = {median}, .median = median, .in_final = in_final};
}

// What was nearly as fast at one size may be in front at the next one.
TEST(Crossovers, TryWhoWasNearBetweenTwoSizes) {
    const std::vector<Contender> all{contender("bine-fold", 1.0), contender("swing", 1.14),
                                     contender("bruck", 1.16), contender("ring", 1.05, false)};
    EXPECT_EQ(near_to(all[0], all, 1.15), Names{"swing"});
    const Winner low{512, "bine-fold", {"swing"}}, high{2048, "bine-fold", {"bruck", "swing"}};
    EXPECT_EQ(worth_between(low, high, true), (Names{"bine-fold", "swing", "bruck"}));
    EXPECT_EQ(worth_between(low, high, false), Names{"bine-fold"}) << "nobody to compare with";
    const Winner other{2048, "trivance", {"bine-fold"}};
    EXPECT_EQ(worth_between(low, other, false), (Names{"bine-fold", "trivance"}));
    EXPECT_EQ(worth_between(low, other, true), (Names{"bine-fold", "trivance", "swing"}));
}

TEST(Crossovers, ChangeAtTheGeometricMean) {
    EXPECT_EQ(between(512, 2048, 36), 1008U);
    EXPECT_EQ(between(8, 12, 8), 0U);
    const std::vector<WinnersRange> ranges = ranges_of({{8, "a"}, {32, "b"}, {128, "b"}});
    ASSERT_EQ(ranges.size(), 2U);
    EXPECT_EQ(ranges[0], (WinnersRange{{.least = 0, .most = 15}, "a"}));
    EXPECT_EQ(ranges[1], (WinnersRange{{.least = 16}, "b"}));
}

}  // namespace
}  // namespace trefoil::tool
