// SPDX-License-Identifier: BSD-3-Clause
// What peers say of themselves, cookies, and the words of a notification.
#include "threads/executor/peer_news.hpp"

#include <gtest/gtest.h>

#include "threads/executor/put_cookie.hpp"

namespace trefoil {
namespace {

TEST(PeerNews, IsEmptyAtFirst) {
    const PeerNews news;
    EXPECT_FALSE(news.greeted());
    EXPECT_FALSE(news.left());
    EXPECT_FALSE(news.failure());
    for (std::uint32_t number = 0; number < Notification::use_modulus; ++number) {
        EXPECT_FALSE(news.prepares(number));
    }
}

TEST(PeerNews, KeepsEachWord) {
    PeerNews news;
    news.take(Control::hello, 0);
    EXPECT_TRUE(news.greeted());
    EXPECT_FALSE(news.left());
    news.take(Control::leaving, 0);
    EXPECT_TRUE(news.left());
    news.take(Control::failed, 0);
    EXPECT_EQ(news.failure(), Control::failed);
    news.take(Control::connecting, 3);
    EXPECT_TRUE(news.prepares(3));
    EXPECT_TRUE(news.prepares(3 + Notification::use_modulus));
    EXPECT_FALSE(news.prepares(4));
}

TEST(PutCookie, NamesItsChannelAndPerhapsAStep) {
    const PutCookie step(PutCookie::of_step(0xfffff, 1, 0x12345).bits());
    EXPECT_TRUE(step.is_put());
    EXPECT_FALSE(step.is_control());
    EXPECT_EQ(step.place(), 1U);
    EXPECT_EQ(step.step(), 0x12345U);
    EXPECT_EQ(step.channel(), 0xfffffU);
    const PutCookie control(PutCookie::of_control(17).bits());
    EXPECT_TRUE(control.is_control());
    EXPECT_FALSE(control.is_stall_report());
    EXPECT_EQ(control.channel(), 17U);
    const PutCookie report(PutCookie::of_stall_report(18).bits());
    EXPECT_TRUE(report.is_control());
    EXPECT_TRUE(report.is_stall_report());
    EXPECT_EQ(report.channel(), 18U);
    EXPECT_FALSE(PutCookie(0).is_put()) << "an event of no put";
}

TEST(Notification, IsAMessageOrAWord) {
    EXPECT_TRUE((Notification{Notification::index_limit - 1, 0, 0, 0}.is_message()));
    const Notification word =
        Notification::decode(control_notification(Control::taken, 262143, 15));
    EXPECT_FALSE(word.is_message());
    EXPECT_EQ(word.channel, 262143U);
    EXPECT_EQ(word.use, 7U) << "modulo eight";
}

}  // namespace
}  // namespace trefoil
