// SPDX-License-Identifier: BSD-3-Clause
// Cookies and notifications of the executor: what goes in comes out, and no other kind is taken
// for theirs.
#include <gtest/gtest.h>

#include "threads/connections/connection.hpp"
#include "threads/executor/notification.hpp"
#include "threads/executor/put_cookie.hpp"

namespace trefoil {
namespace {

TEST(PutCookie, TellsWhatItWasMadeOf) {
    for (const std::uint32_t executor : {0U, 1U, 0xaaaaU, PutCookie::executor_limit - 1}) {
        for (const std::uint32_t channel : {0U, 1U, 0x2aaaaU, PutCookie::channel_limit - 1}) {
            for (const std::uint32_t place : {0U, PutCookie::place_limit - 1}) {
                for (const std::uint32_t step : {0U, 1U, PutCookie::step_limit - 1}) {
                    const PutCookie made(executor, channel, place, step);
                    const PutCookie read(made.bits());
                    ASSERT_TRUE(read.is_one());
                    ASSERT_EQ(read.executor(), executor);
                    ASSERT_EQ(read.channel(), channel);
                    ASSERT_EQ(read.place(), place);
                    ASSERT_EQ(read.step(), step);
                    ASSERT_FALSE(ConnectionCookie::is_one(made.bits()));
                }
            }
        }
    }
}

TEST(PutCookie, IsNoneOfConnectionsNorNobodys) {
    EXPECT_FALSE(PutCookie(0).is_one());
    EXPECT_FALSE(PutCookie(~std::uint64_t{0}).is_one());
    for (const std::uint32_t connection : {0U, 1U, ~0U}) {
        EXPECT_FALSE(PutCookie(ConnectionCookie::of_record(connection).bits()).is_one());
        EXPECT_FALSE(PutCookie(ConnectionCookie::of_answer(connection).bits()).is_one());
    }
}

TEST(Notification, OfAnAcknowledgementNamesChannelUseAndProof) {
    constexpr std::uint32_t channel = (1U << 18) - 2, proof = 0x12345678;
    const std::uint64_t bits = acknowledgement(channel, 1000, 2, proof);
    EXPECT_FALSE(Signal::is_signal(bits));
    const Notification read = Notification::decode(bits);
    EXPECT_FALSE(read.is_message());
    EXPECT_EQ(read.index, Notification::acknowledgement_index);
    EXPECT_EQ(read.channel, channel);
    EXPECT_EQ(read.use, 1000 % Notification::use_modulus(64));
    EXPECT_EQ(read.ring(), 2U);
    EXPECT_EQ(read.check, Notification::folded(proof));
}

TEST(Notification, OfAMessageIsNoSignal) {
    for (const std::uint32_t index : {0U, 1U, Notification::index_limit - 1}) {
        const Notification message{index, 5, 1, 2, 3};
        EXPECT_TRUE(message.is_message());
        EXPECT_FALSE(Signal::is_signal(message.encode()));
        EXPECT_TRUE(Notification::decode(message.encode()).is_message());
    }
    // Of 32 bits the acknowledgement still is one.
    EXPECT_FALSE(Notification::decode(acknowledgement(9, 1, 0, 7) & 0xffffffffU).is_message());
}

}  // namespace
}  // namespace trefoil
