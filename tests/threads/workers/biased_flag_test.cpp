// SPDX-License-Identifier: BSD-3-Clause
// The biased flag: one holder at a time, and none of two threads misses the other.
#include "threads/workers/biased_flag.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/denied_calls.hpp"

namespace {

using trefoil::BiasedFlag;
using Taken = BiasedFlag::Taken;

TEST(BiasedFlag, IsItsOwnersAlonePastAnyNumberOfTurns) {
    BiasedFlag flag;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(flag.take(), Taken::yes);
        EXPECT_TRUE(flag.looks_taken());
        EXPECT_NE(flag.take(), Taken::yes) << "it is not taken twice";
        (void)flag.leave();
        EXPECT_FALSE(flag.looks_taken());
    }
}

TEST(BiasedFlag, SaysWhetherAnybodyElseMayWaitForIt) {
    if (!trefoil::has_process_barrier()) {
        GTEST_SKIP() << "this kernel has no membarrier(2)";
    }
    BiasedFlag flag;
    ASSERT_EQ(flag.take(), Taken::yes);
    EXPECT_TRUE(flag.leave()) << "the first time it was taken by an exchange";
    ASSERT_EQ(flag.take(), Taken::yes);
    EXPECT_FALSE(flag.leave());
    ASSERT_EQ(flag.take(), Taken::yes);
    std::thread([&] {
        EXPECT_NE(flag.take(), Taken::yes);
        EXPECT_TRUE(flag.is_taken());
    }).join();
    EXPECT_TRUE(flag.leave());
    std::thread([&] {
        EXPECT_EQ(flag.take(), Taken::yes);
        EXPECT_TRUE(flag.leave());
    }).join();
    ASSERT_EQ(flag.take(), Taken::yes);
    EXPECT_TRUE(flag.leave()) << "nobody owns it any more";
}

TEST(BiasedFlag, HasOneHolderWhoeverJoinsWhen) {
    for (int round = 0; round < 20; ++round) {
        BiasedFlag flag;
        int inside = 0;
        long turns = 0;
        bool wrong = false;
        std::atomic<int> started{0};
        const auto work = [&](int wanted) {
            ++started;
            for (int done = 0; done < wanted;) {
                if (flag.take() != Taken::yes) {
                    std::this_thread::yield();
                    continue;
                }
                wrong |= ++inside != 1;
                ++turns;
                --inside;
                (void)flag.leave();
                ++done;
            }
        };
        std::vector<std::thread> threads;
        threads.emplace_back(work, 20'000);
        while (started == 0) {
            std::this_thread::yield();
        }
        threads.emplace_back(work, 500);
        threads.emplace_back(work, 500);
        for (std::thread& thread : threads) {
            thread.join();
        }
        ASSERT_FALSE(wrong);
        ASSERT_EQ(turns, 21'000);
    }
}

/// As with calls: one brings work and asks whether somebody works, the other begins to work and
/// looks for some.
TEST(BiasedFlag, OfWhoTakesItAndWhoAsksOneSeesTheOther) {
    int taken = 0;
    for (int round = 0; round < 1000; ++round) {
        BiasedFlag flag;
        std::atomic<bool> work{false};
        std::atomic<int> ready{0};
        bool saw_work = false, saw_holder = false;
        const auto together = [&] {
            ++ready;
            while (ready != 2) {
                std::this_thread::yield();
            }
        };
        std::thread owner([&] {
            ASSERT_EQ(flag.take(), Taken::yes);
            (void)flag.leave();
            together();
            if (flag.take() == Taken::yes) {
                saw_work = work.load(std::memory_order_relaxed);
                ++taken;
            } else {
                saw_work = true;  // it looks again
            }
        });
        together();
        work.store(true, std::memory_order_seq_cst);
        saw_holder = flag.is_taken();
        owner.join();
        ASSERT_TRUE(saw_work || saw_holder);
    }
    EXPECT_GT(taken, 0);
}

// A child, as it cannot be allowed again. All that is seen of the barrier is that it takes time.
TEST(BiasedFlag, HasABarrierWhereTheKernelRefusesItLater) {
    const pid_t child = fork();
    if (child == 0) {
        if (!trefoil::test::forbid_system_calls({{SYS_membarrier}})) {
            _exit(2);
        }
        const auto begin = std::chrono::steady_clock::now();
        trefoil::process_barrier();
        _exit(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1) ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        GTEST_SKIP() << "no seccomp filter here";
    }
    EXPECT_EQ(status, 0);
}

}  // namespace
