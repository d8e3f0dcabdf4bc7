// SPDX-License-Identifier: BSD-3-Clause
// Reports of failures and stalls: as bytes, as letters, and what is kept of those that come.
#include "threads/executor/reports.hpp"

#include <gtest/gtest.h>

#include "parts_fixture.hpp"
#include "threads/executor/peer_reports.hpp"

namespace trefoil::test {
namespace {

TEST(Reports, ACauseArrivesAsItWasToldButForWhatIsTheTellersOwn) {
    Cause cause{Status::timeout, 5, "rank 5 is stopped"};
    cause.own = "; reported by rank 2";
    cause.tentative = true;
    cause.names_calls = true;
    cause.blame.evidence = Evidence::stopped;
    cause.blame.finder = 3;
    cause.blame.since += std::chrono::seconds(1'800'000'000);
    const Cause told = decode_cause(encode(cause));
    EXPECT_EQ(told.status, Status::timeout);
    EXPECT_EQ(told.blame.culprit, 5);
    EXPECT_EQ(told.blame.evidence, Evidence::stopped);
    EXPECT_EQ(told.blame.finder, 3);
    EXPECT_EQ(told.blame.since, cause.blame.since);
    EXPECT_TRUE(told.names_calls);
    EXPECT_EQ(told.text, "rank 5 is stopped");
    EXPECT_EQ(told.own, "");
    EXPECT_FALSE(told.tentative);
}

TEST(Reports, OfSeveralAbortsThatOfTheLowestRankIsKept) {
    PeerReports reports;
    for (const Rank rank : {5, 2, 7}) {
        reports.take(rank, Cause{Status::aborted, rank, "by " + std::to_string(rank)});
    }
    EXPECT_EQ(reports.failure()->cause.text, "by 2");
    EXPECT_EQ(reports.failure()->from, 2);
    EXPECT_EQ(decode_cause(encode(reports.failure()->cause)).status, Status::aborted);
}

TEST(Reports, AnAbortChangesNoOtherFailure) {
    PeerReports reports;
    reports.take(5, Cause{Status::timeout, 4, "rank 4 is stopped"});
    reports.take(0, Cause{Status::aborted, 0, "by 0"});
    EXPECT_EQ(reports.failure()->cause.text, "rank 4 is stopped");
}

TEST(Reports, AStallArrivesAsItWasTold) {
    const StallReport told = decode_stall(encode(StallReport{std::uint64_t{7} << 40,
                                                             ~std::uint64_t{3},
                                                             "a bcast",
                                                             {4, Evidence::stopped},
                                                             "rank 4 is stopped"}));
    EXPECT_EQ(told.call, std::uint64_t{7} << 40);
    EXPECT_EQ(told.signature, ~std::uint64_t{3});
    EXPECT_EQ(told.during, "a bcast");
    EXPECT_EQ(told.suspect.culprit, 4);
    EXPECT_EQ(told.suspect.evidence, Evidence::stopped);
    EXPECT_EQ(told.text, "rank 4 is stopped");
    EXPECT_EQ(decode_stall(encode(StallReport{})).suspect.culprit, Cause::nobody);
}

TEST(Reports, ALongTextIsCut) {
    const std::string cause = encode(Cause{Status::timeout, 2, std::string(5000, 'x')});
    EXPECT_EQ(decode_cause(cause).text, std::string(1024, 'x'));
    const StallReport stall =
        decode_stall(encode(StallReport{1, 2, std::string(5000, 'y'), 3, std::string(5000, 'z')}));
    EXPECT_EQ(stall.during.size(), 1024U);
    EXPECT_EQ(stall.text.size(), 1024U);
}

TEST(Reports, WhatIsCutOffIsNone) {
    const std::string cause = encode(Cause{Status::timeout, 2, "rank 2 is stopped"});
    for (std::size_t bytes = 0; bytes < cause.size(); ++bytes) {
        EXPECT_THROW(decode_cause(std::string_view(cause).substr(0, bytes)), Error) << bytes;
    }
    const std::string stall = encode(StallReport{1, 2, "a bcast", 3, "rank 3 is stopped"});
    for (std::size_t bytes = 0; bytes < stall.size(); ++bytes) {
        EXPECT_THROW(decode_stall(std::string_view(stall).substr(0, bytes)), Error) << bytes;
    }
}

TEST(Reports, AStatusThatDoesNotExistIsAFailureAllTheSame) {
    for (const int status : {0, -7, 1000}) {
        const Cause wild{static_cast<Status>(status), 2, "x"};
        EXPECT_EQ(decode_cause(encode(wild)).status, Status::peer_lost) << status;
    }
}

TEST(PeerReports, TheFirstFailureStandsAndTheLastStall) {
    PeerReports reports;
    EXPECT_FALSE(reports.failure_has_come());
    reports.take(3, Cause{Status::timeout, 5, "rank 5 is stopped"});
    reports.take(4, Cause{Status::peer_lost, 3, "rank 3 has died"});
    EXPECT_TRUE(reports.failure_has_come());
    EXPECT_EQ(reports.failure()->from, 3);
    EXPECT_EQ(reports.failure()->cause.blame.culprit, 5);
    EXPECT_FALSE(reports.stall_of(1));
    reports.take(1, StallReport{7, 1});
    reports.take(1, StallReport{8, 1, "a bcast", 4, "x"});
    EXPECT_EQ(reports.stall_of(1)->report.call, 8U);
    EXPECT_EQ(reports.stalls_taken(), 2U);
}

class LettersTest : public PartsFixture {
  protected:
    explicit LettersTest(int groups = 1) : PartsFixture(groups) {}
    const std::vector<RecordingBox::Letter>& letters(std::size_t group = 0) const {
        return boxes_[group]->letters;
    }
    const Cause cause_{Status::timeout, 5, "rank 5 is stopped"};
};

TEST_F(LettersTest, AFailureIsToldToEachPeerOnceUnderTheCommunicatorsNumber) {
    controls_->say_failure(0, cause_, {});
    ASSERT_EQ(letters().size(), 2U);
    for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_EQ(letters()[c].to, static_cast<Rank>(c + 1));
        EXPECT_EQ(letters()[c].own, Port{static_cast<int>(c)});
        EXPECT_EQ(letters()[c].tag, communicator);
        EXPECT_EQ(letters()[c].text, static_cast<char>(LetterKind::failure) + encode(cause_));
    }
    controls_->say_failure(0, cause_, {});
    EXPECT_EQ(letters().size(), 2U);
}

// Cards number ranks as the job's first communicator does.
TEST_F(LettersTest, PeersAreCalledWhatTheyAreInTheFirstCommunicator) {
    channels_.first_rank = {40, 41, 32};
    controls_->say_failure(0, cause_, {});
    ASSERT_EQ(letters().size(), 2U);
    EXPECT_EQ(letters()[0].to, 41);
    EXPECT_EQ(letters()[1].to, 32);
}

TEST_F(LettersTest, WhoIsGoneIsToldNothing) {
    const Rank gone[] = {1};
    controls_->say_failure(0, cause_, gone);
    ASSERT_EQ(letters().size(), 1U);
    EXPECT_EQ(letters()[0].to, 2);
}

TEST_F(LettersTest, AFailureIsSaidEvenWhereEarlierWordsWait) {
    boxes_[0]->is_busy = true;
    controls_->report_stall(0, StallReport{});
    EXPECT_TRUE(letters().empty());
    controls_->say_failure(0, cause_, {});
    EXPECT_EQ(letters().size(), 2U);
}

TEST_F(LettersTest, WhatComesIsPassedOnUnchangedButNotToWhomItCameFrom) {
    tell(1, cause_);
    controls_->pass_failure_on(0);
    controls_->pass_failure_on(0);
    ASSERT_EQ(letters().size(), 1U);
    EXPECT_EQ(letters()[0].to, 2);
    EXPECT_EQ(letters()[0].text, static_cast<char>(LetterKind::failure) + encode(cause_));
}

TEST_F(LettersTest, NewPeersOfLaterCallsAreToldToo) {
    const std::uint32_t added = channels_.add_in(9, Port{1});
    controls_->say_failure(0, cause_, {});
    ASSERT_EQ(letters().size(), 3U);
    EXPECT_EQ(letters()[2].to, channels_.in[added].peer);
}

TEST_F(LettersTest, WhatIsNoReportChangesNothing) {
    const std::string whole = static_cast<char>(LetterKind::failure) + encode(cause_);
    const std::string stall = static_cast<char>(LetterKind::stall) + encode(StallReport{1, 2});
    for (const std::string& letter :
         {std::string(), std::string("?"), whole.substr(0, 1), whole.substr(0, whole.size() - 1),
          stall.substr(0, 9), static_cast<char>(LetterKind::agreement) + encode(cause_)}) {
        controls_->take_letter(1, letter);
    }
    EXPECT_FALSE(controls_->reports().failure_has_come());
    EXPECT_FALSE(controls_->reports().stall_of(1));
    controls_->take_letter(1, whole);
    EXPECT_TRUE(controls_->reports().failure_has_come());
}

class LettersOfTwoGroups : public LettersTest {
  protected:
    LettersOfTwoGroups() : LettersTest(2) {}
};

TEST_F(LettersOfTwoGroups, EachGroupsOwnerTellsItsOwnPeers) {
    controls_->say_failure(1, cause_, {});
    EXPECT_TRUE(letters(0).empty());
    ASSERT_EQ(letters(1).size(), 1U);
    EXPECT_EQ(letters(1)[0].to, 2);
    controls_->report_stall(0, StallReport{});
    ASSERT_EQ(letters(0).size(), 1U);
    EXPECT_EQ(letters(0)[0].to, 1);
}

}  // namespace
}  // namespace trefoil::test
