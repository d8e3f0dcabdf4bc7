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
    using PartsFixture::tell;
    void tell(std::uint32_t channel, Control kind, std::uint32_t number = 0) {
        parts_->controls.take(0, Notification::decode(word(channel, kind, number)));
    }
    /// A peer that makes the same call is stalled, too.
    void tell_of_stall(std::uint32_t channel, Rank suspect, const std::string& text) {
        tell(channel, stall_report(running_call_.number(), call_.signature, suspect, text));
    }
    void complete_puts() {
        for (const RecordingGroup::Put& put : groups_[0]->puts) {
            parts_->controls.sent(PutCookie(put.cookie));
        }
        groups_[0]->puts.clear();
    }
    void finish() {
        parts_->steps.spend_token(*segment_, 0, notes_);
        parts_->steps.release(*segment_, notes_);
    }
    /// What was sent before bad news may still come, however long the wait has been.
    void expect_end_after_grace(std::chrono::milliseconds idle_for) {
        EXPECT_TRUE(watch_.look(idle_for));
        EXPECT_TRUE(watch_.look(idle_for + milliseconds(199)));
        EXPECT_FALSE(watch_.look(idle_for + milliseconds(200)));
    }
    void expect_failure(Status status, const std::string& text) const {
        EXPECT_EQ(parts_->failure.status(), status);
        EXPECT_EQ(parts_->failure.text(), text);
    }

    ExecutorOptions options_;
    Greeting greeting_{channels_, parts_->controls, parts_->failure, options_,
                       [](std::size_t) { return false; }};
    PeerWatch watch_{channels_,        parts_->queue,   parts_->steps, greeting_,
                     parts_->controls, parts_->failure, options_};
    Program program_;
    RunningSegment* segment_ = nullptr;
};

TEST_F(PeerWatchTest, ATimeOutNamesThePeerThatDoesNotAnswer) {
    EXPECT_TRUE(watch_.look(seconds(59)));
    EXPECT_FALSE(watch_.look(seconds(60)));
    EXPECT_EQ(parts_->failure.cause().culprit, 2);
    expect_failure(Status::timeout,
                   "rank 2 does not answer; rank 0 found it: the test's call: waits for step 0 of "
                   "part 0 from rank 2 through port -0 (60.0 s without progress)");
}

TEST_F(PeerWatchTest, ATimeOutNamesTheOneThatALivingPeerSuspects) {
    tell_of_stall(1, 7, "rank 7 is stopped");
    EXPECT_FALSE(watch_.look(seconds(60)));
    EXPECT_EQ(parts_->failure.cause().culprit, 7);
    EXPECT_EQ(parts_->failure.text().find("rank 7 is stopped; rank 0 found it: "), 0U)
        << parts_->failure.text();
}

TEST_F(PeerWatchTest, WhereNobodyIsSilentATimeOutTellsWhatIsMissing) {
    tell_of_stall(1, Cause::nobody, "");
    EXPECT_FALSE(watch_.look(seconds(60)));
    expect_failure(Status::timeout,
                   "the test's call: waits for step 0 of part 0 from rank 2 through port -0 (60.0 "
                   "s without progress)");
}

TEST_F(PeerWatchTest, ACallThatIsDoneHasNoTrouble) {
    tell(1, Control::failed);
    finish();
    EXPECT_TRUE(watch_.look(seconds(100)));
    EXPECT_FALSE(parts_->failure.happened());
}

TEST_F(PeerWatchTest, AFailureThatAPeerReportsIsThisRanksToo) {
    tell(0, Cause{Status::timeout, 5, "rank 5 is stopped; rank 3 found it"});
    EXPECT_TRUE(watch_.look(milliseconds(100))) << "what was sent before may still come";
    expect_end_after_grace(milliseconds(250));
    expect_failure(Status::timeout,
                   "rank 5 is stopped; rank 3 found it; told by rank 1 during this rank's the "
                   "test's call");
    EXPECT_EQ(parts_->failure.cause().culprit, 5);
    EXPECT_EQ(parts_->failure.cause().text, "rank 5 is stopped; rank 3 found it")
        << "passed on as it came";
}

TEST_F(PeerWatchTest, AFailureWhoseWordsAreTornIsOneAllTheSame) {
    tell(0, Control::failed);
    expect_end_after_grace(milliseconds(250));
    EXPECT_EQ(parts_->failure.status(), Status::peer_lost);
    EXPECT_EQ(parts_->failure.text().find("rank 1 reported a failure"), 0U);
}

TEST_F(PeerWatchTest, ADisagreementThatAPeerReportsIsOne) {
    tell(1, Cause{Status::mismatch, 1, "rank 1 makes another call than rank 2's bcast"});
    expect_end_after_grace(milliseconds(250));
    expect_failure(Status::mismatch,
                   "rank 1 makes another call than rank 2's bcast; told by rank 2 during this "
                   "rank's the test's call; give all ranks the same");
}

TEST_F(PeerWatchTest, APeerThatHasLeftIsMissedOnlyIfSomethingOfItIs) {
    tell(0, Control::leaving);
    EXPECT_TRUE(watch_.look(seconds(5)));
    tell(1, Control::leaving);
    expect_end_after_grace(seconds(5));
    expect_failure(Status::peer_lost,
                   "rank 2 has destroyed its communicator; rank 0 needs it in its the test's call");
}

TEST_F(PeerWatchTest, APeerThatPreparesAnotherCallWillNotSendForThisOne) {
    tell(1, Control::connecting, greeting_.next_set_up() - 1);
    EXPECT_TRUE(watch_.look(seconds(5))) << "that was the set-up before";
    tell(1, Control::connecting, greeting_.next_set_up());
    expect_end_after_grace(seconds(5));
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
    EXPECT_NE(parts_->failure.text().find("rank 2 prepares another call"), std::string::npos);
}

TEST_F(PeerWatchTest, APeerThatIsStalledInTheSameCallIsInOrder) {
    tell_of_stall(0, Cause::nobody, "");
    EXPECT_TRUE(watch_.look(seconds(5)));
    tell(0, stall_report(running_call_.number() + 1, ~call_.signature, Cause::nobody, ""));
    EXPECT_TRUE(watch_.look(seconds(5))) << "in another one, which may come here, too";
}

// The number has 64 bits: the report of call N is none of call N + 2^20.
TEST_F(PeerWatchTest, AReportOfLongAgoDoesNoHarm) {
    tell(0, stall_report(running_call_.number() + (1U << 20), ~call_.signature, Cause::nobody, ""));
    EXPECT_TRUE(watch_.look(seconds(5)));
}

TEST_F(PeerWatchTest, APeerThatIsStalledInAnotherCallOfTheSameNumberDisagrees) {
    tell(0, stall_report(running_call_.number(), ~call_.signature, Cause::nobody, ""));
    expect_end_after_grace(seconds(5));
    expect_failure(Status::mismatch,
                   "rank 1 waits in another call than rank 0's the test's call; give all ranks "
                   "the same");
}

TEST_F(PeerWatchTest, AStallIsReportedToAllPeersAndSeldomRepeated) {
    EXPECT_TRUE(watch_.look(milliseconds(400)));
    EXPECT_TRUE(groups_[0]->puts.empty());
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    ASSERT_EQ(groups_[0]->puts.size(), 2U);
    for (std::uint32_t c = 0; c < 2; ++c) {
        const RecordingGroup::Put& put = groups_[0]->puts[c];
        const auto word = Notification::decode(put.notification);
        EXPECT_EQ(word.signature, static_cast<std::uint32_t>(Control::stalled));
        EXPECT_EQ(word.channel, first_id + c);
        EXPECT_EQ(put.offset, channels_.control_offset() + offsetof(ControlArea, stalls));
        StallReport told;
        std::memcpy(&told, put.source, put.bytes);
        EXPECT_TRUE(told.whole());
        EXPECT_EQ(told.body.call, running_call_.number());
        EXPECT_EQ(told.body.signature, call_.signature);
        EXPECT_EQ(told.body.suspect, Cause::nobody) << "others may report yet";
    }
    complete_puts();
    EXPECT_TRUE(watch_.look(milliseconds(750)));
    EXPECT_TRUE(groups_[0]->puts.empty()) << "nothing new";
    EXPECT_TRUE(watch_.look(milliseconds(1500)));
    ASSERT_EQ(groups_[0]->puts.size(), 2U);
    StallReport told;
    std::memcpy(&told, groups_[0]->puts[0].source, groups_[0]->puts[0].bytes);
    EXPECT_EQ(told.body.suspect, 2);
    EXPECT_EQ(told.body.text.view(), "rank 2 does not answer");
    EXPECT_EQ(Notification::decode(groups_[0]->puts[0].notification).use, 1U) << "the next place";
}

TEST_F(PeerWatchTest, AReportWaitsUntilTheOneBeforeHasLeft) {
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    EXPECT_TRUE(watch_.look(milliseconds(2000)));
    ASSERT_EQ(groups_[0]->puts.size(), 2U) << "their source is in use";
    complete_puts();
    EXPECT_TRUE(watch_.look(milliseconds(2250)));
    EXPECT_EQ(groups_[0]->puts.size(), 2U);
}

TEST_F(PeerWatchTest, ACallHasABoundedNumberOfReports) {
    std::size_t puts = 0;
    for (int look = 0; look < 40; ++look) {
        tell_of_stall(1, 3 + look, "there is always news");
        EXPECT_TRUE(watch_.look(milliseconds(500 + 250 * look)));
        puts += groups_[0]->puts.size();
        complete_puts();
    }
    EXPECT_EQ(puts, 2 * ControlArea::stall_places);
}

// A greeting waits until all words have left, so each that was queued must be counted.
TEST_F(PeerWatchTest, ReportsCountAsWordsUnderWayUntilTheyHaveLeft) {
    EXPECT_FALSE(parts_->controls.under_way());
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    EXPECT_TRUE(parts_->controls.under_way());
    complete_puts();
    EXPECT_FALSE(parts_->controls.under_way());
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

TEST_F(PeerWatchTest, AStoppedProcessIsTheCulpritOfATimeOut) {
    options_.look_at_processes = [] {
        return std::vector<ProcessNews>{{8, ProcessNews::State::stopped}};
    };
    options_.process_text = [](Rank) { return std::string("process 4711 on host a"); };
    EXPECT_FALSE(watch_.look(seconds(60)));
    EXPECT_EQ(parts_->failure.cause().culprit, 8);
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
    Poster poster(0, channels_, parts_->queue, parts_->steps, parts_->failure, notes_);
    groups_[0]->result = PutResult::done;
    for (int i = 0; i < 3; ++i) {
        RunningSegment& segment = begin_segment();
        poster.make_room(parts_->room, segment);
        poster.adopt(segment);
        (void)poster.post_ready();
    }
    const MissingPieces missing(channels_, parts_->queue);
    EXPECT_EQ(missing.text("a bcast"),
              "a bcast: waits for rank 1 to take in what came through port +0 before");
    EXPECT_TRUE(missing.anything_from(0));
    EXPECT_FALSE(missing.anything_from(1));
}

}  // namespace
}  // namespace trefoil::test
