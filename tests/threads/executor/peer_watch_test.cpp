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
        watch_.begin_call(running_call_);
        watch_.begin_wait();
    }
    void tell(std::uint32_t channel, Control kind, std::uint32_t number = 0) {
        parts_->controls.take(0, Notification::decode(word(channel, kind, number)));
    }
    void tell(std::uint32_t channel, const StallReport& report) {
        for (std::uint32_t piece = 0; piece < Notification::report_pieces; ++piece) {
            parts_->controls.take(0,
                                  Notification::decode(report.notification(piece, id_of(channel))));
        }
    }
    void finish() {
        parts_->steps.spend_token(*segment_, 0, notes_);
        parts_->steps.release(*segment_, notes_);
    }
    void expect_failure(Status status, const std::string& text) const {
        EXPECT_EQ(parts_->failure.status(), status);
        EXPECT_EQ(parts_->failure.text(), text);
    }

    ExecutorOptions options_;
    Greeting greeting_{channels_, parts_->controls, parts_->failure, options_,
                       [](std::size_t) { return false; }};
    int polls_ = 0;
    PeerWatch watch_{channels_,       parts_->queue, greeting_,           parts_->controls,
                     parts_->failure, options_,      [this] { ++polls_; }};
    Program program_;
    RunningSegment* segment_ = nullptr;
};

TEST_F(PeerWatchTest, ATimeOutNamesWhatIsMissing) {
    EXPECT_TRUE(watch_.look(seconds(59)));
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

TEST_F(PeerWatchTest, APeerThatReportsAFailureEndsTheCallAfterAGrace) {
    tell(0, Control::failed);
    EXPECT_TRUE(watch_.look(milliseconds(100))) << "what was sent before may still come";
    EXPECT_FALSE(watch_.look(milliseconds(250)));
    expect_failure(Status::peer_lost,
                   "rank 1 reported a failure during this rank's the test's call; its own message "
                   "says which");
}

TEST_F(PeerWatchTest, APeerThatSawAMismatchEndsTheCallAsOne) {
    tell(1, Control::mismatch);
    EXPECT_FALSE(watch_.look(milliseconds(250)));
    expect_failure(Status::mismatch,
                   "rank 2 found that the ranks make different calls; this rank's is the test's "
                   "call; give all ranks the same");
}

TEST_F(PeerWatchTest, APeerThatHasLeftIsMissedOnlyIfSomethingOfItIs) {
    tell(0, Control::leaving);
    EXPECT_TRUE(watch_.look(seconds(5)));
    tell(1, Control::leaving);
    EXPECT_FALSE(watch_.look(seconds(5)));
    expect_failure(Status::peer_lost,
                   "the test's call needs rank 2, which has destroyed its communicator");
}

TEST_F(PeerWatchTest, APeerThatPreparesAnotherCallWillNotSendForThisOne) {
    tell(1, Control::connecting, greeting_.next_set_up() - 1);
    EXPECT_TRUE(watch_.look(seconds(5))) << "that was the set-up before";
    tell(1, Control::connecting, greeting_.next_set_up());
    EXPECT_FALSE(watch_.look(seconds(5)));
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
    EXPECT_NE(parts_->failure.text().find("rank 2 prepares another call"), std::string::npos);
}

TEST_F(PeerWatchTest, APeerThatIsStalledInTheSameCallIsInOrder) {
    tell(0, StallReport::of(running_call_.number(), call_.signature));
    EXPECT_TRUE(watch_.look(seconds(5)));
    tell(0, StallReport::of(running_call_.number() + 1, ~call_.signature));
    EXPECT_TRUE(watch_.look(seconds(5))) << "in another one, which may come here, too";
}

TEST_F(PeerWatchTest, APeerThatIsStalledInAnotherCallOfTheSameNumberDisagrees) {
    tell(0, StallReport::of(running_call_.number(), ~call_.signature));
    EXPECT_FALSE(watch_.look(seconds(5)));
    expect_failure(Status::mismatch,
                   "rank 1 waits in another call than this rank's the test's call; give all ranks "
                   "the same");
}

TEST_F(PeerWatchTest, AStallIsReportedToAllPeersOncePerCall) {
    EXPECT_TRUE(watch_.look(milliseconds(400)));
    EXPECT_TRUE(groups_[0]->puts.empty());
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    ASSERT_EQ(groups_[0]->puts.size(), 2 * Notification::report_pieces);
    StallReport told;
    for (std::uint32_t piece = 0; piece < Notification::report_pieces; ++piece) {
        const auto put = Notification::decode(groups_[0]->puts[piece].notification);
        EXPECT_TRUE(put.is_report());
        EXPECT_EQ(put.channel, first_id);
        told.take(put);
    }
    EXPECT_EQ(told.bits, StallReport::of(running_call_.number(), call_.signature).bits);
    EXPECT_TRUE(watch_.look(milliseconds(750)));
    EXPECT_EQ(groups_[0]->puts.size(), 2 * Notification::report_pieces);
}

TEST_F(PeerWatchTest, AReportThatATransportRefusesIsGivenUpAfterSomePolls) {
    groups_[0]->result = PutResult::again;
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    EXPECT_GT(polls_, 10);
    EXPECT_LE(polls_, 2 * 4 * 100);
}

// A greeting waits until all words have left, so each that was queued must be counted.
TEST_F(PeerWatchTest, ReportsCountAsWordsUnderWayUntilTheyHaveLeft) {
    EXPECT_FALSE(parts_->controls.under_way());
    EXPECT_TRUE(watch_.look(milliseconds(500)));
    EXPECT_TRUE(parts_->controls.under_way());
    for (std::size_t i = 0; i < groups_[0]->puts.size(); ++i) {
        EXPECT_TRUE(PutCookie(groups_[0]->puts[i].cookie).is_control());
        parts_->controls.sent();
    }
    EXPECT_FALSE(parts_->controls.under_way());
}

TEST_F(PeerWatchTest, ProcessesAreLookedAtOnceASecond) {
    int looks = 0;
    std::string wrong;
    options_.check_peers = [&] {
        ++looks;
        return wrong;
    };
    EXPECT_TRUE(watch_.look(milliseconds(750)));
    EXPECT_EQ(looks, 0);
    EXPECT_TRUE(watch_.look(milliseconds(1000)));
    EXPECT_TRUE(watch_.look(milliseconds(1250)));
    EXPECT_EQ(looks, 1);
    watch_.begin_wait();  // there was progress in between
    EXPECT_TRUE(watch_.look(milliseconds(1100)));
    EXPECT_EQ(looks, 2);
    wrong = "rank 2 has died";
    EXPECT_FALSE(watch_.look(milliseconds(2200)));
    EXPECT_EQ(parts_->failure.status(), Status::peer_lost);
    EXPECT_EQ(parts_->failure.text().find("rank 2 has died; the test's call: waits for"), 0U);
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
    poster.reserve(1);
    groups_[0]->result = PutResult::done;
    for (int i = 0; i < 3; ++i) {
        poster.adopt(begin_segment());
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
