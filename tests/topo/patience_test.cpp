// SPDX-License-Identifier: BSD-3-Clause
// One factor scales every wait of the library's own.
#include "topo/patience.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace trefoil {
namespace {

TEST(Patience, AFactorScalesEveryWait) {
    const Patience plain(1);
    const Patience doubled(2);
    EXPECT_EQ(doubled.first_look, 2 * plain.first_look);
    EXPECT_EQ(doubled.longest_drain, 2 * plain.longest_drain);
    EXPECT_EQ(doubled.longest_answer, 2 * plain.longest_answer);
    // Whoever asks gives up before the one that is asked would have answered, or the other way
    // round: the order stands with every factor.
    EXPECT_LT(Patience(0.1).inquiry_if_one_has_ended, Patience(0.1).longest_inquiry);
    EXPECT_GT(Patience(0.1).abort_hears_others.count(), 0);
}

TEST(Patience, FactorsAreFromATenthToAHundred) {
    EXPECT_DOUBLE_EQ(patience_factor("2.5"), 2.5);
    EXPECT_DOUBLE_EQ(patience_factor("0.1"), 0.1);
    EXPECT_DOUBLE_EQ(patience_factor("100"), 100);
    for (const char* wrong : {"", "0", "0.09", "100.5", "-1", "2x", "two", "nan", "2,5"}) {
        EXPECT_DOUBLE_EQ(patience_factor(wrong), 0) << wrong;
    }
}

TEST(Patience, IsThatOfTheEnvironment) {
    EXPECT_EXIT(
        {
            setenv("TREFOIL_PATIENCE", "3", 1);
            std::exit(patience().longest_look == 3 * Patience(1).longest_look ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trefoil
