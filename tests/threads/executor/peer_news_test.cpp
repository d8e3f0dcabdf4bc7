// SPDX-License-Identifier: BSD-3-Clause
// What peers say of themselves, cookies, and the words of a notification.
#include "threads/executor/peer_news.hpp"

#include <gtest/gtest.h>

#include <array>

#include "threads/executor/put_cookie.hpp"

namespace trefoil {
namespace {

Notification piece_of(const StallReport& report, std::uint32_t piece) {
    return Notification::decode(report.notification(piece, 3));
}

TEST(PeerNews, IsEmptyAtFirst) {
    const PeerNews news;
    EXPECT_FALSE(news.greeted());
    EXPECT_FALSE(news.left());
    EXPECT_FALSE(news.failure());
    EXPECT_FALSE(news.report());
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

TEST(PeerNews, AReportIsThereWhenAllPiecesAre) {
    const StallReport report = StallReport::of(0xabcde, 0xfedc'0000'0000'0000);
    for (std::array<std::uint32_t, 4> order :
         {std::array<std::uint32_t, 4>{0, 1, 2, 3}, std::array<std::uint32_t, 4>{3, 1, 0, 2}}) {
        PeerNews news;
        for (const std::uint32_t piece : order) {
            EXPECT_FALSE(news.report());
            news.take_report(piece_of(report, piece));
        }
        ASSERT_TRUE(news.report());
        EXPECT_EQ(news.report()->bits, report.bits);
    }
}

// Half of a new report and half of an old one would be that of a call that nobody makes.
TEST(PeerNews, ReportsAreNotMixed) {
    const StallReport first = StallReport::of(5, 0x1111'0000'0000'0000);
    const StallReport second = StallReport::of(6, 0x2222'0000'0000'0000);
    PeerNews news;
    for (std::uint32_t piece = 0; piece < 4; ++piece) {
        news.take_report(piece_of(first, piece));
    }
    for (std::uint32_t piece = 0; piece < 4; ++piece) {
        news.take_report(piece_of(second, piece));
        EXPECT_EQ(news.report().has_value(), piece == 3);
    }
    EXPECT_EQ(news.report()->bits, second.bits);
}

TEST(PutCookie, NamesAStepOrAChannel) {
    const PutCookie step(PutCookie::of_step(1, 0x12345).bits());
    EXPECT_FALSE(step.is_control());
    EXPECT_EQ(step.place(), 1U);
    EXPECT_EQ(step.step(), 0x12345U);
    const PutCookie control(PutCookie::of_control(17).bits());
    EXPECT_TRUE(control.is_control());
    EXPECT_EQ(control.channel(), 17U);
}

TEST(Notification, IsOneOfThreeKinds) {
    EXPECT_TRUE((Notification{Notification::index_limit - 1, 0, 0, 0}.is_message()));
    EXPECT_TRUE((piece_of(StallReport::of(1, 2), 0).is_report()));
    EXPECT_TRUE((piece_of(StallReport::of(1, 2), 3).is_report()));
    EXPECT_FALSE((piece_of(StallReport::of(1, 2), 0).is_message()));
    const Notification word = Notification::decode(control_notification(Control::taken, 1023, 15));
    EXPECT_TRUE(word.is_control());
    EXPECT_FALSE(word.is_message());
    EXPECT_FALSE(word.is_report());
    EXPECT_EQ(word.channel, 1023U);
    EXPECT_EQ(word.use, 7U) << "modulo eight";
}

}  // namespace
}  // namespace trefoil
