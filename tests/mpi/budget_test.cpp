// SPDX-License-Identifier: BSD-3-Clause
// Set-ups take a fiftieth of a program's time at most.
#include "mpi/budget.hpp"

#include <gtest/gtest.h>

namespace trefoil::mpi {
namespace {

using namespace std::chrono_literals;

TEST(Budget, AProgramThatHasRunForAMomentAffordsNothing) {
    Budget budget;
    const Budget::Clock::time_point begin{};
    budget.begin(begin);
    EXPECT_FALSE(budget.affords_another(begin));
    EXPECT_FALSE(budget.affords_another(begin + Budget::part * Budget::first_price - 1ns));
    EXPECT_TRUE(budget.affords_another(begin + Budget::part * Budget::first_price));
}

TEST(Budget, EachSetUpCountsAndTheLastOneIsThePriceOfTheNext) {
    Budget budget;
    const Budget::Clock::time_point begin{};
    budget.begin(begin);
    budget.spend(20ms);
    EXPECT_FALSE(budget.affords_another(begin + Budget::part * 40ms - 1ns));
    EXPECT_TRUE(budget.affords_another(begin + Budget::part * 40ms));
    budget.spend(1ms);
    EXPECT_FALSE(budget.affords_another(begin + Budget::part * 22ms - 1ns));
    EXPECT_TRUE(budget.affords_another(begin + Budget::part * 22ms));
}

}  // namespace
}  // namespace trefoil::mpi
