// SPDX-License-Identifier: BSD-3-Clause
// One of several executors on an engine fails, or ends: its peers hear why, and the others go on.
#include "several_executors.hpp"

namespace trefoil::test::failing_executors_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// As of a call that is another one on either rank. Signatures are hashes.
std::uint64_t signature_of(Rank rank) {
    return rank == 0 ? 0x123456789abcdef0 : ~std::uint64_t{0x123456789abcdef0};
}

class FailingExecutors : public SeveralExecutors {};

INSTANTIATE_TEST_SUITE_P(Groups, FailingExecutors,
                         testing::Values(std::tuple(NamedGroups{"memory", memory_groups}, 1),
                                         std::tuple(NamedGroups{"loose", loose_groups}, 2)),
                         name_of);

// Rank 0's second communicator fails before rank 1 has one, which then hears why at once.
TEST_P(FailingExecutors, ALateOneHearsThatItsPeerHasFailed) {
    Meeting meeting(2);
    on_ring(2, [&](Rank r, RingRank& rank) {
        expect_sums(rank.first(), 2, 1);
        ExecutorOptions options;
        options.timeout = r == 0 ? milliseconds(300) : seconds(60);
        if (r == 0) {
            const auto second = rank.join(second_communicator, options);
            const Program program = ring_sum(*second, 2, 10);
            second->executor().reserve(program);
            std::vector<std::int32_t> data(10, 1);
            EXPECT_EQ(second->run(program, data), Status::timeout);
            expect_sums(rank.first(), 2, 20);  // meanwhile the letter comes
            meeting.arrive();
            meeting.arrive();
            return;
        }
        expect_sums(rank.first(), 2, 20);
        meeting.arrive();
        const auto second = rank.join(second_communicator, options);
        const Program program = ring_sum(*second, 2, 10);
        second->executor().reserve(program);
        std::vector<std::int32_t> data(10, 1);
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_EQ(second->run(program, data), Status::timeout);
        EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(20));
        EXPECT_TRUE(has(second->executor().failure(), "reported by rank 0"))
            << second->executor().failure();
        meeting.arrive();
    });
}

// Ranks disagree in the second communicator; all ranks' calls of the first go on, before and after.
TEST_P(FailingExecutors, OneFailsAndTheOtherGoesOn) {
    constexpr int ranks = 3;
    Meeting meeting(ranks);
    on_ring(ranks, [&](Rank r, RingRank& rank) {
        const auto second = rank.join(second_communicator);
        expect_sums(*second, ranks, 2);
        std::thread other([&] {
            const Program program = ring_sum(*second, ranks, 10);
            std::vector<std::int32_t> data(10, 1);
            EXPECT_EQ(second->run(program, data, 1, signature_of(r == 1 ? 0 : 1)), Status::mismatch)
                << second->executor().failure();
            EXPECT_EQ(second->run(program, data), Status::mismatch) << "and stays so";
        });
        expect_sums(rank.first(), ranks, 200);
        other.join();
        meeting.arrive();
        expect_sums(rank.first(), ranks, 20);
        EXPECT_EQ(rank.executor().failed(), Status::success) << rank.executor().failure();
        const auto third = rank.join(300);
        expect_sums(*third, ranks, 5);
        meeting.arrive();
    });
}

// After it has failed, the first communicator's peers find no trace of it in what they run.
TEST_P(FailingExecutors, AFailedOneMayEndWhileTheOtherRuns) {
    Meeting meeting(2);
    on_ring(2, [&](Rank r, RingRank& rank) {
        {
            const auto second = rank.join(second_communicator);
            const Program program = ring_sum(*second, 2, 10);
            second->executor().reserve(program);
            std::vector<std::int32_t> data(10, 1);
            EXPECT_EQ(second->run(program, data, 1, signature_of(r)), Status::mismatch)
                << second->executor().failure();
            expect_sums(rank.first(), 2, 5);
        }
        expect_sums(rank.first(), 2, 20);
        meeting.arrive();
    });
}

TEST_P(FailingExecutors, ThePeerThatHasDestroyedItsCommunicatorIsNamed) {
    Meeting meeting(2);
    on_ring(2, [&](Rank r, RingRank& rank) {
        auto second = rank.join(second_communicator);
        expect_sums(*second, 2, 2);
        meeting.arrive();
        if (r == 1) {
            second.reset();
            expect_sums(rank.first(), 2, 20);
            meeting.arrive();
            return;
        }
        expect_sums(rank.first(), 2, 20);
        const Program program = ring_sum(*second, 2, 10);
        std::vector<std::int32_t> data(10, 1);
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_EQ(second->run(program, data), Status::peer_lost);
        EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(20)) << "it need not time out";
        EXPECT_TRUE(has(second->executor().failure(), "rank 1 has destroyed its communicator"))
            << second->executor().failure();
        meeting.arrive();
    });
}

// Ranks 0 and 1 wait for rank 2, and tell each other so. That is no progress.
TEST_P(FailingExecutors, StalledRanksDoNotKeepEachOtherWaiting) {
    Meeting meeting(3);
    on_ring(3, [&](Rank r, RingRank& rank) {
        ExecutorOptions options;
        options.timeout = milliseconds(3000);
        const auto second = rank.join(second_communicator, options);
        expect_sums(*second, 3, 2);
        if (r != 2) {
            const Program program = ring_sum(*second, 3, 10);
            std::vector<std::int32_t> data(10, 1);
            const auto begun = std::chrono::steady_clock::now();
            EXPECT_EQ(second->run(program, data), Status::timeout) << second->executor().failure();
            EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(10));
            EXPECT_TRUE(has(second->executor().failure(), "rank 2 does not answer"))
                << second->executor().failure();
        }
        meeting.arrive();
    });
}

// The calls share no message that shows it: each waits for the other. Stall letters tell.
TEST_P(FailingExecutors, CallsThatWaitForEachOtherAreToldInWordsOfBoth) {
    Meeting meeting(2);
    on_ring(2, [&](Rank r, RingRank& rank) {
        const auto second = rank.join(second_communicator);
        expect_sums(*second, 2, 2);
        ProgramWriter w = second->writer();
        w.part();
        w.step();
        (void)w.arrival(1, 4);
        const Program program = w.take(false);
        second->executor().reserve(program);
        std::vector<std::int32_t> data(1, 1);
        std::vector<CallSegment> segments;
        Call call = RingMember::call_of(program, data, segments);
        call.signature = signature_of(r);
        call.text = r == 0 ? "bcast of 1 int32" : "reduce of 1 int32";
        EXPECT_EQ(second->executor().run(call, RingMember::in_place(data)), Status::mismatch);
        const std::string text = second->executor().failure();
        EXPECT_TRUE(has(text, "bcast of 1 int32")) << text;
        EXPECT_TRUE(has(text, "reduce of 1 int32")) << text;
        EXPECT_TRUE(has(text, "make the same")) << text;
        expect_sums(rank.first(), 2, 10);
        meeting.arrive();
    });
}

}  // namespace
}  // namespace trefoil::test::failing_executors_test
