// SPDX-License-Identifier: BSD-3-Clause
// The count of a channel's uses: when a put may leave, and when a word about it is due.
#include "threads/executor/channel_uses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace trefoil {
namespace {

constexpr std::uint32_t ahead = LandingRings::many_slots - segment_window;
constexpr std::uint32_t modulus = Notification::use_modulus(64);

TEST(ChannelUses, BothEndsCountAlike) {
    OutUses out;
    InUses in;
    for (std::uint32_t use = 0; use < 600; ++use) {
        EXPECT_EQ(out.begin(use % 3 == 0, Ring::few), use);
        EXPECT_EQ(in.begin(), use);
    }
}

TEST(ChannelUses, SynchronisingUsesNeverWait) {
    for (const Ring ring : {Ring::tiny, Ring::few}) {
        OutUses uses;
        for (int i = 0; i < 600; ++i) {
            EXPECT_TRUE(uses.may_put(uses.begin(false, ring), ring));
        }
    }
}

TEST(ChannelUses, OfFewSlotsAPutWaitsForTheUseBeforeTheLastOne) {
    OutUses uses;
    EXPECT_TRUE(uses.may_put(uses.begin(true, Ring::few), Ring::few));
    EXPECT_TRUE(uses.may_put(uses.begin(true, Ring::few), Ring::few));
    const std::uint32_t third = uses.begin(true, Ring::few);
    EXPECT_FALSE(uses.may_put(third, Ring::few));
    uses.acknowledge(1, Ring::few);
    EXPECT_FALSE(uses.may_put(third, Ring::few)) << "that was another use";
    uses.acknowledge(0, Ring::few);
    EXPECT_TRUE(uses.may_put(third, Ring::few));
}

// With a put let go one use earlier this fails: its slot would still be in use.
TEST(ChannelUses, OfManySlotsASenderRunsAheadByAllButOne) {
    OutUses uses;
    for (std::uint32_t use = 0; use < ahead; ++use) {
        ASSERT_TRUE(uses.may_put(uses.begin(true, Ring::many), Ring::many)) << use;
    }
    std::uint32_t next = uses.begin(true, Ring::many);
    EXPECT_EQ(next, ahead);
    EXPECT_FALSE(uses.may_put(next, Ring::many));
    uses.acknowledge(gathered_uses - 1, Ring::many);
    for (std::uint32_t use = 0; use < gathered_uses; ++use) {
        EXPECT_TRUE(uses.may_put(next, Ring::many));
        next = uses.begin(true, Ring::many);
    }
    EXPECT_FALSE(uses.may_put(next, Ring::many));
}

TEST(ChannelUses, ASynchronisingUseAlsoWaitsForAnEarlierAcknowledgement) {
    OutUses uses;
    (void)uses.begin(true, Ring::few);
    (void)uses.begin(false, Ring::few);
    const std::uint32_t third = uses.begin(false, Ring::few);
    EXPECT_FALSE(uses.may_put(third, Ring::few));
    uses.acknowledge(0, Ring::few);
    EXPECT_TRUE(uses.may_put(third, Ring::few));
    EXPECT_TRUE(uses.may_put(uses.begin(false, Ring::few), Ring::few));
}

TEST(ChannelUses, TheRuleHoldsOnceTheNumbersRepeat) {
    for (const int bits : {64, 32}) {
        const std::uint32_t numbers = Notification::use_modulus(bits);
        OutUses uses;
        for (std::uint32_t use = 0; use < 3 * modulus; ++use) {
            const std::uint32_t number = uses.begin(true, Ring::few);
            if (use < 2) {
                continue;
            }
            ASSERT_FALSE(uses.may_put(number, Ring::few));
            uses.acknowledge((use - 2) % numbers, Ring::few);
            ASSERT_TRUE(uses.may_put(number, Ring::few));
        }
    }
}

/// A sender and a receiver that do what they may, now the one and now the other, two uses at a
/// time; words come late and in any order. `early`: the sender lets its puts go as if it were so
/// many uses behind. True: no use ever landed in a slot that was still in use, and both ended.
bool both_end(Ring ring, std::uint32_t seed, std::uint32_t early) {
    constexpr std::uint32_t uses = 2000;
    const std::uint32_t slots =
        ring == Ring::many ? LandingRings::many_slots : LandingRings::few_slots;
    std::mt19937 random(seed);
    const auto is_eager = [&](bool sender) {
        return random() % 8 < (sender == (seed % 2 == 0) ? 7 : 1);
    };
    OutUses out;
    InUses in;
    std::uint32_t begun = 0, put = 0, started = 0, completed = 0, idle = 0;
    std::vector<std::uint32_t> words;
    while (completed < uses && idle < 10'000) {
        ++idle;
        if (is_eager(true) && begun < std::min(put + segment_window, uses)) {
            begun = out.begin(true, ring) + 1;
        }
        if (put < begun && (put < early || out.may_put(put - early, ring))) {
            if (put >= completed + slots) {
                return false;
            }
            ++put;
            idle = 0;
        }
        if (is_eager(false) && started < std::min(completed + segment_window, uses)) {
            const std::uint32_t use = in.begin();
            started = use + 1;
            if (InUses::is_told(use, ring)) {
                words.push_back(use % modulus);
            }
            idle = 0;
        }
        if (completed < std::min(started, put)) {
            ++completed;
        }
        if (!words.empty() && random() % 3 == 0) {
            std::swap(words[random() % words.size()], words.back());
            out.acknowledge(words.back(), ring);
            words.pop_back();
        }
    }
    return completed == uses;
}

TEST(ChannelUses, NoSlotIsUsedTwiceAndNobodyWaitsForEver) {
    for (const Ring ring : {Ring::few, Ring::many}) {
        int caught = 0;
        for (std::uint32_t seed = 0; seed < 40; ++seed) {
            EXPECT_TRUE(both_end(ring, seed, 0)) << seed;
            caught += both_end(ring, seed, ring == Ring::few ? 2 : gathered_uses + 2) ? 0 : 1;
        }
        EXPECT_GT(caught, 0) << "the test finds puts that come too early";
    }
}

TEST(LandingRings, SmallUsesThatAreAcknowledgedHaveManySlots) {
    const LandingRings rings(4096, 1024);
    EXPECT_EQ(rings.of(8, false, 64), Ring::tiny);
    EXPECT_EQ(rings.of(64, false, 64), Ring::tiny);
    EXPECT_EQ(rings.of(65, false, 64), Ring::few);
    EXPECT_EQ(rings.of(8, true, 64), Ring::many);
    EXPECT_EQ(rings.of(1024, true, 64), Ring::many);
    EXPECT_EQ(rings.of(1025, true, 64), Ring::few);
    EXPECT_EQ(rings.of(8, true, 32), Ring::tiny) << "their numbers are too short for many";
    EXPECT_EQ(rings[Ring::few].bytes(), 4 * 4096U);
    EXPECT_EQ(LandingRings(256, 1024)[Ring::many].slot_bytes, 256U);
}

// Four uses one after the other are in four slots, so no two of them meet, wherever they lie there.
TEST(LandingRings, ShortUsesMoveThroughTheirSlot) {
    constexpr std::size_t slot = 1 << 17, spread = 1 << 16;
    LandingRings rings(slot, 1024);
    EXPECT_EQ(rings.spread_offset(Ring::few, 5, 8192), slot) << "only if it is asked for";
    rings.spread(spread);
    for (const std::size_t bytes : {4096, 8192, 9024, 32768}) {
        std::set<std::size_t> places;
        for (std::uint32_t use = 0; use < 400; ++use) {
            const std::size_t begin = rings.spread_offset(Ring::few, use, bytes);
            EXPECT_EQ(begin / slot, use % 4);
            EXPECT_LE(begin % slot + bytes, spread);
            places.insert(begin);
        }
        EXPECT_EQ(places.size(), 4 * (spread / bytes));
    }
    for (const std::size_t bytes : {0, 64, 4032, 32832, 131072}) {
        EXPECT_EQ(rings.spread_offset(Ring::few, 4 * 7 + 2, bytes), 2 * slot);
    }
    EXPECT_EQ(rings.spread_offset(Ring::many, 4 * 7 + 2, 512), 30 * 1024U);
    rings.spread(2 * slot);
    EXPECT_LE(rings.spread_offset(Ring::few, 4 * 15, 8192), slot - 8192) << "a slot is no larger";
}

}  // namespace
}  // namespace trefoil
