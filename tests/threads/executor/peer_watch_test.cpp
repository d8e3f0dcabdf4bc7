// SPDX-License-Identifier: BSD-3-Clause
// The watch over peers alone: when a wait is in vain, and what is said then.
#include "threads/executor/peer_watch.hpp"

#include "parts_fixture.hpp"
#include "threads/executor/poster.hpp"

namespace trefoil::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PeerWatchTest : public PartsFixture {
  protected:
    PeerWatchTest() {
        options_.timeout = seconds(60);
        options_.stall_warning = seconds(1000);
        ProgramWriter w = writer();
        w.part();
        w.step();
        (void)w.arrival(1, 4);
        program_ = w.take(false);
        begin_call(program_);
        segment_ = &begin_segment();
        watch_.begin_wait();
    }
    /// A peer that makes the same call is stalled, too.
    void tell_of_stall(Rank peer, Rank suspect, const std::string& text) {
        tell(peer, StallReport{running_call_.number(), call_.signature, "the same", suspect, text});
    }
    std::vector<RecordingBox::Letter>& letters() { return boxes_[0]->letters; }
    StallReport told(std::size_t letter) {
        EXPECT_EQ(letters()[letter].text.front(), static_cast<char>(LetterKind::stall));
        return decode_stall(std::string_view(letters()[letter].text).substr(1));
    }
    void finish() {
        parts_->steps.count_event(*segment_, 0, notes_);
        parts_->steps.release(*segment_, notes_);
    }
    /// What was sent before bad news may still come, however long the wait has been.
    void expect_end_after_grace(std::chrono::milliseconds idle_for) {
        EXPECT_TRUE(watch_.look(idle_for));
        EXPECT_TRUE(watch_.look(idle_for + milliseconds(199)));
        EXPECT_FALSE(watch_.look(idle_for + milliseconds(200)));
    }
    /// Looks as often as it takes for bad news to end the wait.
    void expect_to_go_on(std::chrono::milliseconds idle_for) {
        EXPECT_TRUE(watch_.look(idle_for));
        EXPECT_TRUE(watch_.look(idle_for + milliseconds(200)));
    }
    void expect_failure(Status status, const std::string& text) const {
        EXPECT_EQ(parts_->failure.status(), status);
        EXPECT_EQ(parts_->failure.text(), text);
    }

    ExecutorOptions options_;
    PeerWatch watch_{channels_,     parts_->calls, parts_->queue,   parts_->stored,
                     parts_->steps, *controls_,    parts_->failure, options_};
    Program program_;
    RunningSegment* segment_ = nullptr;
};

TEST_F(PeerWatchTest, ATimeOutNamesThePeerThatDoesNotAnswer) {
    EXPECT_TRUE(watch_.look(seconds(59)));
    EXPECT_FALSE(watch_.look(seconds(60)));
    EXPECT_EQ(parts_->failure.cause().blame.culprit, 2);
    expect_failure(Status::timeout,
                   "rank 2 does not answer; rank 0 found it: the test's call: waits for step 0 of "
                   "part 0 from rank 2 through port -0 (60.0 s without progress)");
}

TEST_F(PeerWatchTest, ATimeOutNamesTheOneThatALivingPeerSuspects) {
    tell_of_stall(2, 7, "rank 7 is stopped");
    EXPECT_FALSE(watch_.look(seconds(60)));
    EXPECT_EQ(parts_->failure.cause().blame.culprit, 7);
    EXPECT_EQ(parts_->failure.text().find("rank 7 is stopped; rank 0 found it: "), 0U)
        << parts_->failure.text();
}

TEST_F(PeerWatchTest, WhereNobodyIsSilentATimeOutTellsWhatIsMissing) {
    tell_of_stall(2, Cause::nobody, "");
    EXPECT_FALSE(watch_.look(seconds(60)));
    expect_failure(Status::timeout,
                   "the test's call: waits for step 0 of part 0 from rank 2 through port -0 (60.0 "
                   "s without progress)");
}

TEST_F(PeerWatchTest, ACallThatIsDoneHasNoTrouble) {
    tell(2, Cause{Status::timeout, 5, "rank 5 is stopped"});
    finish();
    EXPECT_TRUE(watch_.look(seconds(100)));
    EXPECT_FALSE(parts_->failure.happened());
}

TEST_F(PeerWatchTest, AFailureThatAPeerReportsIsThisRanksToo) {
    tell(1, Cause{Status::timeout, 5, "rank 5 is stopped; rank 3 found it"});
    EXPECT_TRUE(watch_.look(milliseconds(100))) << "what was sent before may still come";
    expect_end_after_grace(milliseconds(250));
    expect_failure(Status::timeout,
                   "rank 5 is stopped; rank 3 found it; reported by rank 1 during this rank's the "
                   "test's call");
    EXPECT_EQ(parts_->failure.cause().blame.culprit, 5);
    EXPECT_EQ(parts_->failure.cause().text, "rank 5 is stopped; rank 3 found it")
        << "passed on as it came";
}

TEST_F(PeerWatchTest, ADisagreementThatAPeerReportsIsOne) {
    tell(2, Cause{Status::mismatch, 1, "rank 1 makes another call than rank 2's bcast"});
    expect_end_after_grace(milliseconds(250));
    expect_failure(
        Status::mismatch,
        "rank 1 makes another call than rank 2's bcast; reported by rank 2; rank 0 calls "
        "the test's call; give all ranks the same");
}

TEST_F(PeerWatchTest, ADisagreementThatNamesThisRanksCallIsNotToldTwice) {
    Cause cause{Status::mismatch, {0, Evidence::disagrees}, "rank 0 calls x, rank 2 calls y"};
    cause.blame.finder = 2;
    cause.names_calls = true;
    tell(2, cause);
    expect_end_after_grace(milliseconds(250));
    expect_failure(Status::mismatch,
                   "rank 0 calls x, rank 2 calls y; reported by rank 2; give all "
                   "ranks the same");
}

TEST_F(PeerWatchTest, APeerThatHasLeftIsMissedOnlyIfSomethingOfItIs) {
    leaves(0);
    expect_to_go_on(seconds(5));
    leaves(1);
    expect_end_after_grace(seconds(6));
    expect_failure(Status::peer_lost,
                   "rank 2 has destroyed its communicator; rank 0 needs it in its the test's call");
}

TEST_F(PeerWatchTest, APeerThatIsStalledInTheSameCallIsInOrder) {
    tell_of_stall(1, Cause::nobody, "");
    expect_to_go_on(seconds(5));
    tell(1, StallReport{running_call_.number() + 1, ~call_.signature});
    expect_to_go_on(seconds(6));  // in another one, which may come here, too
}

// The number has 64 bits: the report of call N is none of call N + 2^20.
TEST_F(PeerWatchTest, AReportOfLongAgoDoesNoHarm) {
    tell(1, StallReport{running_call_.number() + (1U << 20), ~call_.signature});
    expect_to_go_on(seconds(5));
}

TEST_F(PeerWatchTest, APeerThatIsStalledInAnotherCallOfTheSameNumberDisagrees) {
    tell(1, StallReport{running_call_.number(), ~call_.signature, "bcast of 4 int32"});
    expect_end_after_grace(seconds(5));
    expect_failure(Status::mismatch,
                   "rank 1 calls bcast of 4 int32, rank 0 calls the test's call; give all ranks "
                   "the same");
    EXPECT_EQ(parts_->failure.cause().blame.culprit, 1);
}

// As where ranks name different roots in their first call.
TEST_F(PeerWatchTest, ADisagreementMayBeToldByARankWithoutAChannel) {
    tell(9, StallReport{running_call_.number(), ~call_.signature, "bcast of 4 int32"});
    expect_end_after_grace(seconds(5));
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
    EXPECT_EQ(parts_->failure.cause().blame.culprit, 9);
}

TEST_F(PeerWatchTest, AStallIsReportedToAllPeersAndSeldomRepeated) {
    EXPECT_TRUE(watch_.look(milliseconds(400)));
    EXPECT_TRUE(letters().empty());
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    ASSERT_EQ(letters().size(), 2U);
    for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_EQ(letters()[c].to, static_cast<Rank>(c + 1));
        EXPECT_EQ(letters()[c].own, Port{static_cast<int>(c)});
        EXPECT_EQ(letters()[c].tag, communicator);
        const StallReport report = told(c);
        EXPECT_EQ(report.call, running_call_.number());
        EXPECT_EQ(report.signature, call_.signature);
        EXPECT_EQ(report.during, "the test's call");
        EXPECT_EQ(report.suspect.culprit, Cause::nobody) << "others may report yet";
    }
    letters().clear();
    EXPECT_TRUE(watch_.look(milliseconds(750)));
    EXPECT_TRUE(letters().empty()) << "nothing new";
    EXPECT_TRUE(watch_.look(milliseconds(1500)));
    ASSERT_EQ(letters().size(), 2U);
    EXPECT_EQ(told(0).suspect.culprit, 2);
    EXPECT_EQ(told(0).text, "rank 2 does not answer");
}

// Else what is told to a peer that does not look would pile up here.
TEST_F(PeerWatchTest, AReportPassesOverPeersThatHaveNotTakenTheOneBefore) {
    boxes_[0]->is_busy = true;
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    EXPECT_TRUE(letters().empty());
    boxes_[0]->is_busy = false;
    EXPECT_TRUE(watch_.look(milliseconds(2000)));
    EXPECT_EQ(letters().size(), 2U);
}

TEST_F(PeerWatchTest, AStallWithoutNewsIsReportedSeldomerAndSeldomer) {
    tell_of_stall(2, 7, "rank 7 is stopped");  // this rank's own suspicion does not change
    std::size_t looks = 0;
    for (milliseconds idle_for(500); idle_for < seconds(59); idle_for += milliseconds(250)) {
        EXPECT_TRUE(watch_.look(idle_for));
        ++looks;
    }
    EXPECT_GT(looks, 200U);
    EXPECT_LE(letters().size(), 2U * 8U) << "at 0.5, 1, 2, 4, ... s";
    EXPECT_GE(letters().size(), 2U * 6U);
}

// Its landing memory may be another worker's to take, or the call reads what the one before reads.
TEST_F(PeerWatchTest, ACallOfWhichNoSegmentHasStartedIsLookedAfter) {
    finish();
    RunningCall waiting;
    Call call = call_;
    call.text = "the call behind it";
    waiting.begin(call, {}, ++calls_);
    EXPECT_TRUE(watch_.look(seconds(100))) << "nothing is in flight";
    parts_->calls.push(waiting);
    EXPECT_FALSE(watch_.look(seconds(60)));
    EXPECT_EQ(parts_->failure.status(), Status::timeout);
    EXPECT_NE(parts_->failure.text().find("the call behind it: "), std::string::npos)
        << parts_->failure.text();
}

TEST_F(PeerWatchTest, ProcessesAreLookedAtEveryHalfSecond) {
    int looks = 0;
    std::vector<ProcessNews> found;
    options_.look_at_processes = [&] {
        ++looks;
        return found;
    };
    EXPECT_TRUE(watch_.look(milliseconds(200)));
    EXPECT_EQ(looks, 0);
    EXPECT_TRUE(watch_.look(milliseconds(250)));
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    EXPECT_EQ(looks, 1);
    EXPECT_TRUE(watch_.look(milliseconds(750)));
    EXPECT_EQ(looks, 2);
    found = {{2, ProcessNews::State::stopped}};
    EXPECT_TRUE(watch_.look(milliseconds(1250))) << "it may go on";
    found = {{2, ProcessNews::State::ended}};
    EXPECT_FALSE(watch_.look(milliseconds(1750)));
    EXPECT_EQ(parts_->failure.status(), Status::peer_lost);
    EXPECT_TRUE(parts_->failure.cause().tentative) << "another may be the reason";
}

TEST_F(PeerWatchTest, AProcessFromWhichNothingIsMissingMayHaveEndedInOrder) {
    options_.look_at_processes = [] {
        return std::vector<ProcessNews>{{8, ProcessNews::State::ended}};
    };
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    EXPECT_TRUE(watch_.look(milliseconds(2900))) << "whoever needs it may still tell";
    EXPECT_FALSE(watch_.look(milliseconds(3500)));
    EXPECT_EQ(parts_->failure.status(), Status::peer_lost);
    EXPECT_TRUE(parts_->failure.cause().tentative);
}

TEST_F(PeerWatchTest, AStoppedProcessIsTheCulpritOfATimeOut) {
    options_.look_at_processes = [] {
        return std::vector<ProcessNews>{{8, ProcessNews::State::stopped}};
    };
    options_.process_text = [](Rank) { return std::string("process 4711 on host a"); };
    EXPECT_FALSE(watch_.look(seconds(60)));
    EXPECT_EQ(parts_->failure.cause().blame.culprit, 8);
    EXPECT_EQ(parts_->failure.text().find("rank 8 (process 4711 on host a) is stopped; "), 0U);
}

TEST_F(PeerWatchTest, AWaitForAcknowledgementsSaysWhose) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 0}, 4);
    Program program = w.take(false);
    program.acknowledged = true;
    finish();
    begin_call(program, 3);
    Poster poster(0, 0, channels_, parts_->queue, parts_->steps, parts_->failure, notes_);
    groups_[0]->result = PutResult::done;
    for (int i = 0; i < 3; ++i) {
        RunningSegment& segment = begin_segment();
        make_room([&](const ProgramSizes& sizes) { poster.make_room(sizes, segment); });
        poster.adopt(segment);
        (void)poster.post_ready();
    }
    const MissingList missing(channels_, parts_->queue, parts_->stored);
    EXPECT_EQ(missing.text("a bcast"),
              "a bcast: waits for rank 1 to take in what came through port +0 before");
    EXPECT_EQ(missing.ranks(), std::vector<Rank>{1});
}

TEST_F(PeerWatchTest, AWaitForAPeerThatHasNotConnectedSaysSo) {
    finish();
    channels_.out[1].wired = false;
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(1, {Location::input, 0}, 4);
    const Program program = w.take(false);
    begin_call(program);
    begin_segment();
    const MissingList missing(channels_, parts_->queue, parts_->stored);
    EXPECT_EQ(missing.text("a bcast"), "a bcast: waits for rank 2 to connect to port -0");
    EXPECT_EQ(missing.ranks(), std::vector<Rank>{2});
    leaves(1);
    expect_end_after_grace(seconds(5));
    EXPECT_EQ(parts_->failure.status(), Status::peer_lost);
}

}  // namespace
}  // namespace trefoil::test
