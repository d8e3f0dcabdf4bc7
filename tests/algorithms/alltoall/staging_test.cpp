// SPDX-License-Identifier: BSD-3-Clause
// Runs of scratch blocks: first fit, and what is given back joins its neighbours.
#include "algorithms/alltoall/staging.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace trefoil {
namespace {

constexpr Block begin = 100;

TEST(StagingArea, TakesTheFirstGapThatIsLargeEnough) {
    StagingArea area(begin);
    const Extent small = area.take(2);
    (void)area.take(1);
    const Extent large = area.take(4);
    (void)area.take(1);
    area.give_back(small);
    area.give_back(large);
    EXPECT_EQ(area.take(3).first, large.first);
    EXPECT_EQ(area.take(1).first, begin);
    EXPECT_EQ(area.take(1).first, begin + 1);
    EXPECT_EQ(area.size(), 8);
}

TEST(StagingArea, AGapAtTheEndIsUsedWhenItGrows) {
    StagingArea area(begin);
    (void)area.take(2);
    area.give_back(area.take(3));
    EXPECT_EQ(area.take(5).first, begin + 2);
    EXPECT_EQ(area.size(), 7);
}

// Else three blocks that are free side by side would be no room for three.
TEST(StagingArea, GapsJoinInWhateverOrderTheyCome) {
    std::array<int, 3> order{0, 1, 2};
    do {
        StagingArea area(begin);
        const std::vector<Extent> runs{area.take(1), area.take(1), area.take(1)};
        (void)area.take(1);  // so that no gap is at the end
        for (const int i : order) {
            area.give_back(runs[static_cast<std::size_t>(i)]);
        }
        EXPECT_EQ(area.take(3).first, begin) << order[0] << order[1] << order[2];
        EXPECT_EQ(area.size(), 4);
    } while (std::ranges::next_permutation(order).found);
}

}  // namespace
}  // namespace trefoil
