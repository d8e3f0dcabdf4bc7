// SPDX-License-Identifier: BSD-3-Clause
// The race of kernel and processor, on a machine that others keep busy.
#include "backend/system/kernel_copies.hpp"

#include <gtest/gtest.h>

namespace trefoil {
namespace {

using std::chrono::nanoseconds;

/// Takes `least`, but in most turns something else runs, too: of seven turns one is undisturbed.
struct Disturbed {
    nanoseconds least;
    int first_free;
    int turns = 0;

    std::optional<nanoseconds> operator()() {
        return turns++ % 7 == first_free ? least : least * (2 + turns % 11);
    }
};

TEST(KernelCopies, AreJudgedByTheirShortestTimesWhateverElseRuns) {
    for (int a = 0; a < 7; ++a) {
        for (int b = 0; b < 7; ++b) {
            EXPECT_TRUE(kernel_keeps_up(Disturbed{nanoseconds(10'000), a},
                                        Disturbed{nanoseconds(6'000), b}));
            EXPECT_FALSE(kernel_keeps_up(Disturbed{nanoseconds(10'000), a},
                                         Disturbed{nanoseconds(3'500), b}));
        }
    }
}

TEST(KernelCopies, EndAlsoWhenEachTimeIsShorterThanTheOneBefore) {
    int turns = 0;
    nanoseconds took{1'000'000};
    EXPECT_TRUE(kernel_keeps_up(
        [&] {
            ++turns;
            return std::optional(took -= nanoseconds(1));
        },
        [&] { return std::optional(took); }));
    EXPECT_LE(turns, 1000);
}

TEST(KernelCopies, AreNotFastWhereTheKernelRefuses) {
    EXPECT_FALSE(
        kernel_keeps_up([] { return std::nullopt; }, [] { return std::optional(nanoseconds(1)); }));
}

TEST(KernelCopies, AreJudgedOnceInAProcess) {
    EXPECT_EQ(kernel_copies_are_fast(), kernel_copies_are_fast());
}

}  // namespace
}  // namespace trefoil
