// SPDX-License-Identifier: BSD-3-Clause
// The first cause of a failure stands, whoever comes later.
#include "threads/executor/failure.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace trefoil {
namespace {

class FailureTest : public testing::Test {
  protected:
    std::vector<std::shared_ptr<PortGroup>> groups_;
    WakeUp wake_up_{groups_};
    Failure failure_{wake_up_, 4};
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

// Only what was noticed first may give way, and only to the reason for it.
TEST_F(FailureTest, ATentativeCauseIsReplacedByTheReasonForIt) {
    failure_.suspect(Status::peer_lost, 3, "the cable is cut");
    failure_.set(Status::timeout, "nothing comes");
    EXPECT_TRUE(failure_.cause().tentative);
    EXPECT_EQ(failure_.cause().blame.culprit, 3);
    EXPECT_EQ(failure_.cause().blame.evidence, Evidence::unreachable);
    Cause reason{Status::timeout, 5, "rank 5 is stopped"};
    reason.own = "; reported by rank 3";
    failure_.replace(reason);
    EXPECT_FALSE(failure_.cause().tentative);
    EXPECT_EQ(failure_.status(), Status::timeout);
    EXPECT_EQ(failure_.text(), "rank 5 is stopped; reported by rank 3");
    EXPECT_EQ(failure_.cause().text, "rank 5 is stopped");
}

TEST_F(FailureTest, WhatNobodyHasFoundThisRankFindsNow) {
    const auto before = std::chrono::system_clock::now();
    failure_.set_own(Status::out_of_memory);
    const Blame own = failure_.cause().blame;
    EXPECT_EQ(own.culprit, 4);
    EXPECT_EQ(own.finder, 4);
    EXPECT_EQ(own.evidence, Evidence::own);
    EXPECT_GE(own.since, before);
}

TEST_F(FailureTest, WhatAnotherRankHasFoundStaysItsOwn) {
    Cause heard{Status::timeout, {5, Evidence::silent}, "rank 5 does not answer"};
    heard.blame.finder = 2;
    heard.blame.since += std::chrono::hours(1);
    failure_.set(heard);
    EXPECT_EQ(failure_.cause().blame.finder, 2);
    EXPECT_EQ(failure_.cause().blame.since, heard.blame.since);
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
