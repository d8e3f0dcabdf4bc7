// SPDX-License-Identifier: BSD-3-Clause
// Whom a stalled rank suspects; and that all ranks of a chain come to suspect the same.
#include "threads/executor/suspects.hpp"

#include <gtest/gtest.h>

#include <array>

namespace trefoil {
namespace {

class SuspectsTest : public testing::Test {
  protected:
    SuspectsTest() {
        known_.self = 0;
        known_.call = 9;
        known_.since = PeerReports::Clock::now();
    }
    Suspect find(const std::vector<Rank>& missing, bool settled = true) {
        known_.missing = missing;
        known_.processes = processes_;
        return suspect_of(known_, reports_, options_, settled);
    }
    void report(Rank from, Rank suspect, const std::string& text = "", std::uint64_t call = 9) {
        reports_.take(from, StallReport{call, 1, "a test call", suspect, text});
    }

    StallKnowledge known_;
    PeerReports reports_;
    ExecutorOptions options_;
    std::vector<ProcessNews> processes_;
};

TEST_F(SuspectsTest, APeerThatSaysNothingIsSuspectedAfterAWhile) {
    EXPECT_EQ(find({3}, false).blame.culprit, Cause::nobody);
    EXPECT_EQ(find({3}), (Suspect{{3, Evidence::silent}, "rank 3 does not answer"}));
    EXPECT_EQ(find({}).blame.culprit, Cause::nobody);
}

TEST_F(SuspectsTest, APeerThatReportsIsNotItself) {
    report(3, Cause::nobody);
    EXPECT_EQ(find({3}).blame.culprit, Cause::nobody);
    EXPECT_EQ(find({3, 4}).blame.culprit, 4);
    report(3, 7, "rank 7 is stopped");
    EXPECT_EQ(find({3}), (Suspect{7, "rank 7 is stopped"}));
    EXPECT_EQ(find({3}, false).blame.culprit, 7) << "known before this rank could tell";
}

TEST_F(SuspectsTest, NobodySuspectsItself) {
    report(3, 0, "rank 0 does not answer");
    EXPECT_EQ(find({3}).blame.culprit, Cause::nobody);
}

TEST_F(SuspectsTest, ReportsOfEarlierStallsDoNotCount) {
    report(3, 7, "", 8);
    known_.since = PeerReports::Clock::now() + std::chrono::seconds(5);
    EXPECT_EQ(find({3}).blame.culprit, 3);
}

TEST_F(SuspectsTest, AStoppedProcessGoesFirst) {
    report(3, 7, "rank 7 does not answer");
    processes_ = {{5, ProcessNews::State::stopped}};
    EXPECT_EQ(find({3}), (Suspect{{5, Evidence::stopped}, "rank 5 is stopped"}));
    processes_ = {{0, ProcessNews::State::stopped}};
    EXPECT_EQ(find({3}).blame.culprit, 7) << "this rank runs";
}

// Rank r misses something of rank r + 1 alone, and the last of them is not there.
TEST(Suspects, AllRanksOfAChainFindItsEnd) {
    constexpr Rank ranks = 12;
    std::array<PeerReports, ranks> reports;
    std::array<Suspect, ranks> found;
    const ExecutorOptions options;
    for (int round = 0; round < ranks; ++round) {
        for (Rank r = 0; r + 1 < ranks; ++r) {
            const std::vector<Rank> missing{r + 1};
            StallKnowledge known;
            known.self = r;
            known.call = 1;
            known.missing = missing;
            found[static_cast<std::size_t>(r)] =
                suspect_of(known, reports[static_cast<std::size_t>(r)], options, round > 0);
        }
        for (Rank r = 1; r + 1 < ranks; ++r) {
            const Suspect& mine = found[static_cast<std::size_t>(r)];
            reports[static_cast<std::size_t>(r) - 1].take(
                r, StallReport{1, 1, "a test call", mine.blame, mine.text});
        }
    }
    for (Rank r = 0; r + 1 < ranks; ++r) {
        EXPECT_EQ(found[static_cast<std::size_t>(r)].blame.culprit, ranks - 1) << "rank " << r;
    }
}

}  // namespace
}  // namespace trefoil
