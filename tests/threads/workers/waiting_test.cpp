// SPDX-License-Identifier: BSD-3-Clause
// The waiting policy as a sequence of answers: eager first, then naps that grow.
#include "threads/workers/waiting.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "backend/ports/powers.hpp"

namespace {

using std::chrono::microseconds;
using trefoil::Waiting;

/// In which it only yields.
constexpr std::chrono::milliseconds longest_yielding{50};

std::chrono::nanoseconds time_since(std::chrono::steady_clock::time_point begun) {
    return std::chrono::steady_clock::now() - begun;
}

/// How many calls in a row answer `expected`; the first that does not is used up.
int calls_that_answer(Waiting& waiting, microseconds expected, int limit) {
    int calls = 0;
    while (calls < limit && waiting.idle() == expected) {
        ++calls;
    }
    return calls;
}

TEST(WaitingPolicy, yields_twenty_times_then_sleeps_longer_and_longer) {
    Waiting waiting(false);
    EXPECT_EQ(calls_that_answer(waiting, microseconds{0}, 1000), 20);
    // The call that ended the count before has used up one of each length.
    for (const int length : {50, 1000, 10000}) {
        const int sleeps = 1 + calls_that_answer(waiting, microseconds{length}, 10000);
        EXPECT_GT(sleeps, 10) << length;
        EXPECT_LT(sleeps, 1000) << length;
    }
    EXPECT_EQ(calls_that_answer(waiting, microseconds{200'000}, 500), 500);
}

TEST(WaitingPolicy, yields_longer_where_all_messages_go_by_memory) {
    Waiting waiting(false, true);
    EXPECT_EQ(calls_that_answer(waiting, microseconds{0}, 1000), 100);
}

// Where nothing wakes a sleeper, the delay is a tenth of what has been waited, or little more.
TEST(WaitingPolicy, a_sleep_is_short_beside_what_was_waited) {
    Waiting waiting(false);
    microseconds waited{0};
    for (int i = 0; i < 10000; ++i) {
        const microseconds sleep = waiting.idle();
        EXPECT_TRUE(trefoil::nap_slice(sleep) <= std::max(microseconds{50}, waited / 10))
            << sleep.count();
        waited += sleep;
    }
}

TEST(WaitingPolicy, spins_before_it_yields_when_there_are_cores) {
    Waiting waiting(true);
    const auto begun = std::chrono::steady_clock::now();
    const int pauses = calls_that_answer(waiting, microseconds{0}, 1000000);
    EXPECT_TRUE(pauses > 1000 || (pauses > 500 && time_since(begun) > longest_yielding)) << pauses;
    EXPECT_EQ(waiting.idle(), microseconds{50});
}

// Nobody looks for dead peers meanwhile.
TEST(WaitingPolicy, sleeps_after_a_while_where_a_yield_takes_long) {
    for (const bool serves : {false, true}) {
        Waiting waiting(true);
        while (!waiting.yields()) {
            (void)waiting.idle(serves);
        }
        int yields = 0;
        while (waiting.idle(serves).count() == 0 && ++yields < 1000) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));  // others have the core
        }
        EXPECT_LT(yields, 200) << serves;
    }
}

// Work of the caller's comes to no endpoint, and would end no sleep.
TEST(WaitingPolicy, yields_for_long_where_there_are_cores_and_the_caller_has_work) {
    Waiting waiting(true);
    int pauses = 0;
    while (!waiting.yields()) {
        ASSERT_EQ(waiting.idle(true), microseconds{0});
        ++pauses;
    }
    EXPECT_GT(pauses, 100);
    const auto begun = std::chrono::steady_clock::now();
    int yields = 0;
    while (waiting.idle(true).count() == 0) {
        ++yields;
    }
    EXPECT_TRUE(yields > 90'000 || time_since(begun) > longest_yielding / 2) << yields;
    Waiting crowded(false);
    while (crowded.idle(true).count() == 0) {
    }
    EXPECT_FALSE(crowded.yields());
}

TEST(WaitingPolicy, is_eager_again_after_a_reset) {
    Waiting waiting(false);
    while (waiting.idle() != microseconds{200'000}) {
    }
    waiting.reset();
    EXPECT_EQ(calls_that_answer(waiting, microseconds{0}, 1000), 20);
}

}  // namespace
