// SPDX-License-Identifier: BSD-3-Clause
// The count of a channel's uses: when a put may leave, and that both ends count alike.
#include "threads/executor/channel_uses.hpp"

#include <gtest/gtest.h>

namespace trefoil {
namespace {

TEST(ChannelUses, BothEndsCountAlikeModuloEight) {
    OutUses out;
    InUses in;
    for (std::uint32_t use = 0; use < 20; ++use) {
        EXPECT_EQ(out.begin(false), use % 8);
        EXPECT_EQ(in.begin(), use % 8);
    }
}

TEST(ChannelUses, SynchronisingUsesNeverWait) {
    OutUses uses;
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(uses.may_put(uses.begin(false)));
    }
}

TEST(ChannelUses, APutWaitsForTheUseBeforeTheLastOne) {
    OutUses uses;
    EXPECT_TRUE(uses.may_put(uses.begin(true)));
    EXPECT_TRUE(uses.may_put(uses.begin(true)));
    const std::uint32_t third = uses.begin(true);
    EXPECT_FALSE(uses.may_put(third));
    uses.acknowledge(1);
    EXPECT_FALSE(uses.may_put(third)) << "that was another use";
    uses.acknowledge(0);
    EXPECT_TRUE(uses.may_put(third));
}

TEST(ChannelUses, ASynchronisingUseAlsoWaitsForAnEarlierAcknowledgement) {
    OutUses uses;
    (void)uses.begin(true);
    (void)uses.begin(false);
    const std::uint32_t third = uses.begin(false);
    EXPECT_FALSE(uses.may_put(third));
    uses.acknowledge(0);
    EXPECT_TRUE(uses.may_put(third));
}

TEST(ChannelUses, TheRuleHoldsOnceTheNumbersRepeat) {
    OutUses uses;
    for (std::uint32_t use = 0; use < 100; ++use) {
        const std::uint32_t number = uses.begin(true);
        if (use < 2) {
            continue;
        }
        ASSERT_FALSE(uses.may_put(number));
        uses.acknowledge((use - 2) % Notification::use_modulus);
        ASSERT_TRUE(uses.may_put(number));
    }
}

}  // namespace
}  // namespace trefoil
