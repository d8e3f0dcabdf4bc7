// SPDX-License-Identifier: BSD-3-Clause
// Sleeping and waking: no change by a sibling is slept through, and nobody is woken for nothing.
#include "threads/executor/wake_up.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "tests/backend/ports/silent_group.hpp"

namespace trefoil {
namespace {

/// A group that does nothing but sleep, until it is woken.
class SleepingGroup final : public test::SilentGroup, public Waking {
  public:
    SleepingGroup() { powers_.waking = this; }
    void wait(std::chrono::microseconds longest) override {
        std::unique_lock lock(mutex_);
        ++waits_;
        changed_.wait_for(lock, longest, [this] { return woken_; });
        woken_ = false;
    }
    void wake() override {
        const std::lock_guard lock(mutex_);
        ++wakes_;
        woken_ = true;
        changed_.notify_one();
    }
    int waits() const {
        const std::lock_guard lock(mutex_);
        return waits_;
    }
    int wakes() const {
        const std::lock_guard lock(mutex_);
        return wakes_;
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
    int waits_ = 0, wakes_ = 0;
};

constexpr std::chrono::microseconds forever = std::chrono::seconds(30);

class WakeUpTest : public testing::Test {
  protected:
    WakeUpTest() {
        for (int i = 0; i < 2; ++i) {
            auto group = std::make_unique<SleepingGroup>();
            sleeping_.push_back(group.get());
            groups_.push_back(std::move(group));
        }
        wake_up_ = std::make_unique<WakeUp>(groups_);
    }

    std::vector<std::shared_ptr<PortGroup>> groups_;
    std::vector<SleepingGroup*> sleeping_;
    std::unique_ptr<WakeUp> wake_up_;
};

TEST_F(WakeUpTest, AChangeSinceTheLastLookForWorkPreventsTheSleep) {
    const std::uint32_t seen = wake_up_->changes();
    wake_up_->announce();
    wake_up_->sleep(0, seen, forever);
    EXPECT_EQ(sleeping_[0]->waits(), 0);
}

TEST_F(WakeUpTest, WorkersThatAreAwakeAreLeftAlone) {
    wake_up_->announce();
    wake_up_->sleep(1, wake_up_->changes(), std::chrono::microseconds(1));
    wake_up_->announce();
    EXPECT_EQ(sleeping_[0]->wakes(), 0);
    EXPECT_EQ(sleeping_[1]->wakes(), 0);
}

TEST_F(WakeUpTest, AChangeEndsASleep) {
    const std::uint32_t seen = wake_up_->changes();
    std::thread sleeper([&] { wake_up_->sleep(0, seen, forever); });
    while (sleeping_[0]->waits() == 0) {
        std::this_thread::yield();
    }
    wake_up_->announce();
    sleeper.join();  // else after half a minute
    EXPECT_EQ(sleeping_[0]->wakes(), 1);
    EXPECT_EQ(sleeping_[1]->wakes(), 0);
}

// Each worker sleeps until the other has taken its turn: one missed change and both sleep on.
TEST_F(WakeUpTest, TwoWorkersThatWaitForEachOtherMissNoTurn) {
    constexpr std::uint32_t turns = 20'000;
    std::atomic<std::uint32_t> turn{0};
    const auto begun = std::chrono::steady_clock::now();
    const auto play = [&](std::uint32_t me) {
        while (true) {
            const std::uint32_t seen = wake_up_->changes();
            const std::uint32_t now = turn.load(std::memory_order_relaxed);  // ordered by changes()
            if (now >= turns) {
                return;
            }
            if (now % 2 == me) {
                turn.store(now + 1, std::memory_order_relaxed);
                wake_up_->announce();
            } else {
                wake_up_->sleep(me, seen, forever);
            }
        }
    };
    std::thread other(play, 1);
    play(0);
    other.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, forever) << "a change was slept through";
}

TEST(WakeUpOfOneWorker, CountsNothing) {
    std::vector<std::shared_ptr<PortGroup>> groups;
    groups.push_back(std::make_unique<SleepingGroup>());
    WakeUp wake_up(groups);
    wake_up.announce();
    EXPECT_EQ(wake_up.changes(), 0U);
}

}  // namespace
}  // namespace trefoil
