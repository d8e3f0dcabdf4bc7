// SPDX-License-Identifier: BSD-3-Clause
// From what one rank notices to who began it.
#include "threads/executor/inquiry.hpp"

#include <thread>

#include "parts_fixture.hpp"

namespace trefoil::test {
namespace {

constexpr auto ended = ProcessNews::State::ended;
constexpr auto stopped = ProcessNews::State::stopped;

class InquiryTest : public PartsFixture {
  protected:
    InquiryTest() {
        options_.look_at_processes = [this] {
            ++looks_;
            return processes_;
        };
        options_.process_text = [](Rank rank) { return "process 4" + std::to_string(rank); };
    }
    Cause find(Rank accused) {
        Cause noticed{Status::peer_lost, accused, "the cable is cut"};
        noticed.tentative = true;
        const Cause cause = inquiry_.cause_of(noticed, "a bcast");
        EXPECT_FALSE(cause.tentative);
        return cause;
    }

    std::vector<ProcessNews> processes_;
    int looks_ = 0;
    ExecutorOptions options_;
    /// What comes while it listens.
    std::function<void()> comes_ = [] {};
    Inquiry inquiry_{
        channels_, *controls_, options_,
        [this](const std::function<bool()>& over, std::chrono::steady_clock::time_point deadline) {
            while (std::chrono::steady_clock::now() < deadline) {
                comes_();
                if (over()) {
                    return true;
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            return false;
        }};
};

TEST_F(InquiryTest, AReportThatComesSoonTellsTheReason) {
    processes_ = {{1, ended}};
    comes_ = [this] { tell(2, Cause{Status::timeout, 5, "rank 5 is stopped"}); };
    const Cause cause = find(1);
    EXPECT_EQ(cause.blame.culprit, 5);
    EXPECT_EQ(cause.status, Status::timeout);
    EXPECT_EQ(cause.text, "rank 5 is stopped");
    EXPECT_EQ(cause.own, "; reported by rank 2 during this rank's a bcast");
}

TEST_F(InquiryTest, WithoutOneAProcessThatHasEndedIsTheCulprit) {
    processes_ = {{6, ended}, {3, stopped}};
    const Cause cause = find(1);
    EXPECT_EQ(cause.blame.culprit, 6);
    EXPECT_EQ(cause.blame.evidence, Evidence::ended);
    EXPECT_EQ(cause.text,
              "rank 6 (process 46) has ended; rank 0 found it: a bcast: the cable is cut");
}

TEST_F(InquiryTest, OfSeveralTheFirstThatWasFound) {
    processes_ = {{6, ended}, {1, ended}};
    EXPECT_EQ(find(1).blame.culprit, 6);
}

TEST_F(InquiryTest, ARankThatLeftInOrderIsNotTheReasonIfAnotherIsMissing) {
    leaves(0);
    processes_ = {{1, ended}, {6, ended}};
    EXPECT_EQ(find(Cause::nobody).blame.culprit, 6);
    processes_ = {{1, ended}};
    const Cause cause = find(Cause::nobody);
    EXPECT_EQ(cause.blame.culprit, 1);
    EXPECT_EQ(cause.blame.evidence, Evidence::left);
    EXPECT_EQ(cause.text.find("rank 1 (process 41) has destroyed its communicator"), 0U);
}

TEST_F(InquiryTest, AProcessOfAnotherHostCanOnlyBeAccused) {
    const Cause cause = find(2);
    EXPECT_EQ(cause.blame.culprit, 2);
    EXPECT_EQ(cause.text.find("rank 2 (process 42) cannot be reached; "), 0U) << cause.text;
    EXPECT_GT(looks_, 1) << "it may end a little later";
}

TEST_F(InquiryTest, WhatIsNobodysFaultStaysSo) {
    const Cause cause = find(Cause::nobody);
    EXPECT_EQ(cause.blame.culprit, Cause::nobody);
    EXPECT_EQ(cause.text, "the cable is cut");
}

TEST_F(InquiryTest, AnErrorOfSetUpKeepsTheRankThatItNames) {
    processes_ = {{4, ended}, {7, ended}};
    const Cause named =
        inquiry_.cause_of(Error(Status::peer_lost, "rank 6 has disconnected", {6, Evidence::left}));
    EXPECT_EQ(named.blame.culprit, 6) << "the store may have seen who went first";
    EXPECT_EQ(named.text, "rank 6 has disconnected");
    const Cause other =
        inquiry_.cause_of(Error(Status::timeout, "rank 0 hears nothing", {0, Evidence::own}));
    EXPECT_EQ(other.blame.culprit, 4);
    EXPECT_EQ(other.text, "rank 4 (process 44) has ended; rank 0 hears nothing");
    processes_ = {{4, ended}, {8, stopped}};
    EXPECT_EQ(inquiry_.cause_of(Error(Status::timeout, "no answer")).blame.culprit, 8)
        << "rank 4 has given up on it";
    const Cause local =
        inquiry_.cause_of(Error(Status::system_error, "rank 3 has no memory", {3, Evidence::own}));
    EXPECT_EQ(local.blame.culprit, 3);
    EXPECT_EQ(local.text, "rank 3 has no memory");
}

// The words of an error may name any ranks: only its blame counts.
TEST_F(InquiryTest, AWeakSuspicionOfSetUpGivesWayToAProcessThatHasEnded) {
    processes_ = {{4, ended}};
    for (const Evidence weak : {Evidence::unreachable, Evidence::silent}) {
        const Error error(Status::peer_lost, "rank 1 cannot connect to rank 6", {6, weak});
        const Cause cause = inquiry_.cause_of(error);
        EXPECT_EQ(cause.blame.culprit, 4);
        EXPECT_EQ(cause.blame.evidence, Evidence::ended);
    }
    processes_.clear();
    const Error error(Status::peer_lost, "rank 1 cannot connect to rank 6",
                      {6, Evidence::unreachable});
    EXPECT_EQ(inquiry_.cause_of(error).blame.culprit, 6);
}

}  // namespace
}  // namespace trefoil::test
