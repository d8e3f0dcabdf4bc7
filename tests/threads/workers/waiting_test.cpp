// SPDX-License-Identifier: BSD-3-Clause
// The waiting policy as a sequence of answers: eager first, then naps that grow.
#include "threads/workers/waiting.hpp"

#include <gtest/gtest.h>

#include "backend/ports/port_group.hpp"

namespace {

using std::chrono::microseconds;
using trefoil::Waiting;

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
    EXPECT_GT(calls_that_answer(waiting, microseconds{0}, 1000000), 1000);
    EXPECT_EQ(waiting.idle(), microseconds{50});
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
    for (int i = 0; i < 90'000; ++i) {
        ASSERT_EQ(waiting.idle(true), microseconds{0}) << i;
    }
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
