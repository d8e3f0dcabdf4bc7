// SPDX-License-Identifier: BSD-3-Clause
// What TREFOIL_FAULTS may say, and what is refused.
#include "backend/faults/fault_plan.hpp"

#include <gtest/gtest.h>

#include "topo/error.hpp"

namespace trefoil {
namespace {

TEST(FaultPlan, HasAllThatIsNamedAndNothingElse) {
    const FaultPlan plan = parse_faults(
        "18446744073709551615:delay=200,again=3,stall=7,close=50,fail=0.5,drop=1,twice=1e-3,"
        "flip=0.25,rank=2,rank=0");
    EXPECT_EQ(plan.seed, ~std::uint64_t{0});
    EXPECT_EQ(plan.delay.count(), 200);
    EXPECT_EQ(plan.again, 3U);
    EXPECT_EQ(plan.stall, 7U);
    EXPECT_EQ(plan.close, 50U);
    EXPECT_EQ(plan.fail, 0.5);
    EXPECT_EQ(plan.drop, 1);
    EXPECT_EQ(plan.twice, 1e-3);
    EXPECT_EQ(plan.flip, 0.25);
    EXPECT_TRUE(plan.concerns(0));
    EXPECT_FALSE(plan.concerns(1));
    EXPECT_TRUE(plan.concerns(2));
    const FaultPlan one = parse_faults("0:drop=0.5");
    EXPECT_TRUE(one.concerns(1));
    EXPECT_EQ(one.delay.count() + one.again + one.stall + one.close, 0);
    EXPECT_EQ(one.fail + one.twice + one.flip, 0);
}

TEST(FaultPlan, RefusesWhatIsMalformedAndTellsWhatThereIs) {
    for (const char* const text : {"",
                                   "drop=0.5",
                                   ":drop=0.5",
                                   "x:drop=0.5",
                                   "-1:drop=0.5",
                                   "7",
                                   "7:",
                                   "7:drop",
                                   "7:,",
                                   "7:drop=0.5,",
                                   "7:drop=",
                                   "7:drop=nan",
                                   "7:drop=1.5",
                                   "7:drop=-0.1",
                                   "7:drop=0.5x",
                                   "7:delay=0",
                                   "7:delay=200us",
                                   "7:again=-1",
                                   "7:again=99999999999",
                                   "7:rank=-1",
                                   "7:drp=0.5",
                                   "7 :drop=0.5",
                                   "99999999999999999999:drop=0.5"}) {
        try {
            parse_faults(text);
            ADD_FAILURE() << "accepted: " << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("seed:KIND=VALUE"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace trefoil
