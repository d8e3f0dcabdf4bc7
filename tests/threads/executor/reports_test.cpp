// SPDX-License-Identifier: BSD-3-Clause
// Reports: whole or ignored, whatever lies in the memory that peers write.
#include "threads/executor/reports.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "threads/executor/peer_reports.hpp"

namespace trefoil {
namespace {

TEST(Reports, ACauseArrivesAsItWasToldButForWhatIsTheTellersOwn) {
    Cause cause{Status::timeout, 5, "rank 5 is stopped"};
    cause.own = "; told by rank 2";
    const FailureReport report = failure_report(cause);
    EXPECT_TRUE(report.whole());
    const Cause told = cause_of(report);
    EXPECT_EQ(told.status, Status::timeout);
    EXPECT_EQ(told.culprit, 5);
    EXPECT_EQ(told.text, "rank 5 is stopped");
    EXPECT_EQ(told.own, "");
    EXPECT_FALSE(told.tentative);
}

TEST(Reports, OnlyTheUsedPartOfATextTravels) {
    const FailureReport sent = failure_report({Status::peer_lost, 1, "short"});
    EXPECT_LT(sent.bytes(), 64U);
    FailureReport landed = failure_report({Status::timeout, 2, std::string(500, 'x')});
    std::memcpy(&landed, &sent, sent.bytes());
    EXPECT_TRUE(landed.whole());
    EXPECT_EQ(cause_of(landed).text, "short");
}

TEST(Reports, ALongTextIsCut) {
    const FailureReport report = failure_report({Status::timeout, 2, std::string(5000, 'x')});
    EXPECT_TRUE(report.whole());
    EXPECT_EQ(report.bytes(), sizeof report);
    EXPECT_EQ(cause_of(report).text, std::string(1000, 'x'));
    const StallReport stall = stall_report(1, 2, 3, std::string(5000, 'y'));
    EXPECT_EQ(stall.body.text.view().size(), 224U);
    EXPECT_TRUE(stall.whole());
}

TEST(Reports, FreshMemoryAndTornRecordsAreNone) {
    EXPECT_FALSE(FailureReport().whole());
    EXPECT_FALSE(StallReport().whole());
    const FailureReport report = failure_report({Status::timeout, 2, "rank 2 is stopped"});
    for (std::size_t i = 0; i < report.bytes(); ++i) {
        FailureReport torn = report;
        reinterpret_cast<unsigned char*>(&torn)[i] ^= 1;
        EXPECT_FALSE(torn.whole()) << "byte " << i;
    }
}

TEST(Reports, NoBytesLeadBeyondTheRecord) {
    FailureReport wild;
    std::memset(static_cast<void*>(&wild), 0xff, sizeof wild);
    EXPECT_FALSE(wild.whole());
    EXPECT_LE(wild.bytes(), sizeof wild);
    wild.seal();
    const Cause cause = cause_of(wild);
    EXPECT_EQ(cause.status, Status::peer_lost) << "a status that does not exist";
    EXPECT_LE(cause.text.size(), 1000U);
}

TEST(PeerReports, TheFirstFailureStandsAndTheLastStall) {
    PeerReports reports;
    EXPECT_FALSE(reports.failure_has_come());
    reports.take(3, failure_report({Status::timeout, 5, "rank 5 is stopped"}), Status::peer_lost);
    reports.take(4, failure_report({Status::peer_lost, 3, "rank 3 has died"}), Status::peer_lost);
    EXPECT_TRUE(reports.failure_has_come());
    EXPECT_EQ(reports.failure()->from, 3);
    EXPECT_EQ(reports.failure()->cause.culprit, 5);
    EXPECT_FALSE(reports.stall_of(1));
    reports.take(1, stall_report(7, 1, Cause::nobody, ""));
    reports.take(1, stall_report(8, 1, 4, "x"));
    reports.take(1, StallReport());
    EXPECT_EQ(reports.stall_of(1)->body.call, 8U) << "what is torn changes nothing";
}

TEST(PeerReports, AFailureWithoutWordsIsItsTellers) {
    PeerReports reports;
    reports.take(3, FailureReport(), Status::mismatch);
    ASSERT_TRUE(reports.failure());
    EXPECT_EQ(reports.failure()->cause.status, Status::mismatch);
    EXPECT_EQ(reports.failure()->cause.culprit, 3);
}

}  // namespace
}  // namespace trefoil
