// SPDX-License-Identifier: BSD-3-Clause
// The waiting policy as a sequence of answers: eager first, then naps that grow.
#include "threads/waiting.hpp"

#include <gtest/gtest.h>

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

TEST(WaitingPolicy, yields_about_a_hundred_times_then_naps_longer_and_longer) {
    Waiting waiting(false);
    EXPECT_EQ(calls_that_answer(waiting, microseconds{0}, 1000), 100);
    const int naps = 1 + calls_that_answer(waiting, microseconds{50}, 10000);
    EXPECT_GT(naps, 10);
    EXPECT_LT(naps, 1000);
    EXPECT_EQ(calls_that_answer(waiting, microseconds{1000}, 500), 500);
}

TEST(WaitingPolicy, spins_before_it_yields_when_there_are_cores) {
    Waiting waiting(true);
    EXPECT_GT(calls_that_answer(waiting, microseconds{0}, 1000000), 1000);
    EXPECT_EQ(waiting.idle(), microseconds{50});
}

TEST(WaitingPolicy, is_eager_again_after_a_reset) {
    Waiting waiting(false);
    while (waiting.idle() != microseconds{1000}) {
    }
    waiting.reset();
    EXPECT_EQ(calls_that_answer(waiting, microseconds{0}, 1000), 100);
}

}  // namespace
