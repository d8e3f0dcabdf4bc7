// SPDX-License-Identifier: BSD-3-Clause
// The first cause of a failure stands, whoever comes later.
#include "threads/executor/failure.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace trefoil {
namespace {

class FailureTest : public testing::Test {
  protected:
    std::vector<std::unique_ptr<PortGroup>> groups_;
    WakeUp wake_up_{groups_};
    Failure failure_{wake_up_};
};

TEST_F(FailureTest, NothingHasHappenedAtFirst) {
    EXPECT_FALSE(failure_.happened());
    EXPECT_EQ(failure_.status(), Status::success);
    EXPECT_EQ(failure_.text(), "");
}

TEST_F(FailureTest, TheFirstCauseStands) {
    failure_.set(Status::mismatch, "the ranks disagree");
    failure_.set(Status::timeout, "nothing comes");
    EXPECT_TRUE(failure_.happened());
    EXPECT_EQ(failure_.status(), Status::mismatch);
    EXPECT_EQ(failure_.text(), "the ranks disagree");
}

TEST_F(FailureTest, StatusAndTextAreOfTheSameCauseWhenManyThreadsFail) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([this, i] {
            const bool even = i % 2 == 0;
            failure_.set(even ? Status::peer_lost : Status::timeout, even ? "lost" : "late");
            // Whoever sees a status sees its text.
            EXPECT_EQ(failure_.text(), failure_.status() == Status::peer_lost ? "lost" : "late");
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
}  // namespace trefoil
