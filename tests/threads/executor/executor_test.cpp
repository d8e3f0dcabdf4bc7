// SPDX-License-Identifier: BSD-3-Clause
// The executor by itself: hand-made programs over shared memory and over a group that promises as
// little as it may.
#include "threads/executor/executor.hpp"

#include <array>
#include <atomic>
#include <filesystem>
#include <numeric>

#include "loose_group.hpp"
#include "ring.hpp"

namespace trefoil::test {
namespace {

struct Groups {
    const char* name;
    MakeGroups make;
};

class ExecutorOver : public testing::TestWithParam<std::tuple<Groups, int>> {
  protected:
    void on_ring(int ranks, const std::function<void(Rank, RingRank&)>& body,
                 const ExecutorOptions& options = {}) {
        test::on_ring(ranks, workers(), std::get<0>(GetParam()).make, options, body);
    }
    int workers() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Groups, ExecutorOver,
                         testing::Combine(testing::Values(Groups{"memory", memory_groups},
                                                          Groups{"loose", loose_groups}),
                                          testing::Values(1, 2)),
                         [](const auto& chosen) {
                             return std::get<0>(chosen.param).name +
                                    std::to_string(std::get<1>(chosen.param));
                         });

TEST_P(ExecutorOver, AddsUpAroundARing) {
    constexpr int ranks = 3;
    constexpr std::size_t count = 100;
    on_ring(ranks, [&](Rank r, RingRank& rank) {
        const Program program = ring_sum(rank, ranks, count);
        rank.executor().reserve(program);
        for (std::size_t segments = 1; segments <= 7; ++segments) {
            std::vector<std::int32_t> data(count * segments);
            std::iota(data.begin(), data.end(), static_cast<std::int32_t>(r));
            ASSERT_EQ(rank.run(program, data, segments), Status::success)
                << rank.executor().failure();
            for (std::size_t i = 0; i < data.size(); ++i) {
                ASSERT_EQ(data[i], 3 * static_cast<std::int32_t>(i) + 3) << i;
            }
        }
    });
}

/// Rank 0 sends to rank 1, which takes its time. Nobody hears from the other but through
/// acknowledgements.
TEST_P(ExecutorOver, ASenderNeverOverrunsASlowReceiver) {
    constexpr std::size_t count = 500;
    constexpr int calls = 40;
    std::atomic<int> sent{0}, received{0};
    on_ring(2, [&](Rank r, RingRank& rank) {
        ProgramWriter w = rank.writer();
        w.part();
        w.step();
        if (r == 0) {
            w.put(0, {Location::output, 0}, count * 4);
        } else {
            w.after(ProgramOp::copy({Location::output, 0}, w.arrival(1, count * 4), count * 4));
        }
        Program program = w.take(r == 1);
        program.acknowledged = true;
        rank.executor().reserve(program);
        for (int call = 0; call < calls; ++call) {
            std::vector<std::int32_t> data(count, r == 0 ? call : -1);
            if (r == 1 && call % 4 == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(3));
            }
            ASSERT_EQ(rank.run(program, data), Status::success) << rank.executor().failure();
            if (r == 0) {
                // Call u waited for the acknowledgement of call u - 2.
                EXPECT_LE(++sent - received.load(), 4);
            } else {
                ++received;
                ASSERT_EQ(data, std::vector<std::int32_t>(count, call));
            }
        }
    });
}

// Two vectors travel at once, in opposite directions: parts do not wait for each other, but the end
// does.
TEST_P(ExecutorOver, PartsRunSideBySide) {
    constexpr int ranks = 3;
    on_ring(ranks, [&](Rank r, RingRank& rank) {
        ProgramWriter w = rank.writer();
        for (const std::uint32_t to : {0U, 1U}) {
            w.part();
            w.step();
            w.gathered_put(to, {Location::output, 4 * to}, 4);
            const Location landed = w.arrival(1 - to, 4);
            w.step();
            w.put(to, landed, 4);
            w.end(ProgramOp::copy({Location::output, 8 + 4 * to}, w.arrival(1 - to, 4), 4));
        }
        const Program program = w.take(true);
        rank.executor().reserve(program);
        const auto own = static_cast<std::int32_t>(r);
        for (std::int32_t call = 0; call < 20; ++call) {
            std::vector<std::int32_t> data = {10 * own + call, 100 * own + call, -1, -1};
            ASSERT_EQ(rank.run(program, data), Status::success) << rank.executor().failure();
            // After two hops: through port +0 comes what the one before the one before sent.
            EXPECT_EQ(data[2], 10 * ((own + 1) % ranks) + call);
            EXPECT_EQ(data[3], 100 * ((own + 2) % ranks) + call);
        }
    });
}

// Segments that drain from step 2 on: each starts when the one before it has come there, and does
// not wait for its end.
TEST_P(ExecutorOver, APipelineStartsWhenTheOneBeforeItDrains) {
    constexpr std::uint64_t segments = 6;
    on_ring(2, [&](Rank r, RingRank& rank) {
        TraceOptions traced;
        traced.pattern = testing::TempDir() + "trefoil-drains-%r.json";
        traced.events = 1000;
        traced.rank = r;
        traced.workers.resize(static_cast<std::size_t>(workers()));
        Trace trace(traced);
        std::filesystem::remove(trace.file());
        ExecutorOptions options;
        options.trace = &trace;
        const auto member = rank.join(RingRank::first_communicator + 1, options);
        ProgramWriter w = member->writer();
        w.part();
        for (int step = 0; step < 4; ++step) {
            w.step();
            w.put(0, {Location::output, 0}, 4);
            (void)w.arrival(1, 4);
        }
        Program program = w.take(false);
        program.drains_at = {2};
        member->executor().reserve(program);
        std::vector<std::int32_t> data(segments);
        ASSERT_EQ(member->run(program, data, segments), Status::success);
        const Engine::Exclusive held(rank.engine());
        std::array<std::int64_t, segments> begun{}, drained{}, ended{};
        for (std::size_t worker = 0; worker < traced.workers.size(); ++worker) {
            const TraceRing& ring = trace.ring(worker);
            for (std::size_t i = 0; i < ring.kept(); ++i) {
                if (ring[i].kind == TraceEvent::Kind::segment) {
                    begun[ring[i].segment] = ring[i].begin;
                    ended[ring[i].segment] = ring[i].end;
                } else if (ring[i].kind == TraceEvent::Kind::step && ring[i].step == 1) {
                    drained[ring[i].segment] = ring[i].end;
                }
            }
        }
        int overlap = 0;
        for (std::size_t s = 1; s < segments; ++s) {
            EXPECT_GT(drained[s - 1], 0);
            EXPECT_GE(begun[s], drained[s - 1]) << s;
            overlap += begun[s] < ended[s - 1] ? 1 : 0;
        }
        EXPECT_GT(overlap, 0);
    });
}

// Each step is opened by the worker that takes the message, and put by its sibling, which sleeps.
TEST(ExecutorOfTwoWorkers, NoChangeByASiblingIsSleptThrough) {
    constexpr int ranks = 3;
    std::atomic<int> ready{0};
    on_ring(ranks, 2, loose_groups, {}, [&](Rank r, RingRank& rank) {
        Program program = ring_sum(rank, ranks, 8);
        program.drains_at = {program.parts.front().first + 1};  // which the sibling may open
        rank.executor().reserve(program);
        std::vector<std::int32_t> first(8, 1);
        ASSERT_EQ(rank.run(program, first), Status::success) << rank.executor().failure();
        const auto sleep_until_woken = [&rank](bool is_to) {
            const Engine::Exclusive held(rank.engine());
            for (const auto& group : rank.groups()) {
                static_cast<LooseGroup&>(*group).sleep_until_woken(is_to);
            }
        };
        sleep_until_woken(true);
        for (++ready; ready < ranks;) {
            std::this_thread::yield();
        }
        for (int call = 0; call < 20; ++call) {
            std::vector<std::int32_t> data(8 * 3, 1);
            if (call % ranks == static_cast<int>(r)) {  // all others fall asleep
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
            ASSERT_EQ(rank.run(program, data, 3), Status::success) << rank.executor().failure();
            EXPECT_EQ(data, std::vector<std::int32_t>(8 * 3, ranks));
        }
        sleep_until_woken(false);
    });
    EXPECT_EQ(LooseGroup::sleeps_in_vain, 0);
}

TEST_P(ExecutorOver, RanksThatMakeDifferentCallsFindOut) {
    ExecutorOptions options;
    options.timeout = std::chrono::seconds(20);
    std::atomic<int> mismatches{0};
    on_ring(
        2,
        [&](Rank r, RingRank& rank) {
            const Program program = ring_sum(rank, 2, 10);
            rank.executor().reserve(program);
            std::vector<std::int32_t> data(10, 1);
            // Another count of elements would differ in the lengths; here only the hash does.
            const std::uint64_t signature = r == 0 ? 0 : ~std::uint64_t{0};
            mismatches += rank.run(program, data, 1, signature) == Status::mismatch;
        },
        options);
    EXPECT_EQ(mismatches, 2);
}

// Rank 1 is late by more than a stall's report takes.
TEST_P(ExecutorOver, AStallThatEndsLeavesNoTrace) {
    ExecutorOptions options;
    options.timeout = std::chrono::seconds(10);
    on_ring(
        2,
        [&](Rank r, RingRank& rank) {
            const Program program = ring_sum(rank, 2, 10);
            rank.executor().reserve(program);
            std::vector<std::int32_t> data(10, 1);
            if (r == 1) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1000));
            }
            ASSERT_EQ(rank.run(program, data), Status::success) << rank.executor().failure();
            EXPECT_EQ(data, std::vector<std::int32_t>(10, 2));
            ASSERT_EQ(rank.run(program, data), Status::success) << rank.executor().failure();
            EXPECT_EQ(data, std::vector<std::int32_t>(10, 4));
        },
        options);
}

TEST_P(ExecutorOver, AFailureStandsForAllLaterCalls) {
    ExecutorOptions options;
    options.timeout = std::chrono::milliseconds(400);
    std::atomic<bool> failed{false};
    on_ring(
        2,
        [&](Rank r, RingRank& rank) {
            const Program program = ring_sum(rank, 2, 10);
            rank.executor().reserve(program);
            std::vector<std::int32_t> data(10, 1);
            ASSERT_EQ(rank.run(program, data), Status::success) << rank.executor().failure();
            if (r == 0) {
                EXPECT_EQ(rank.run(program, data), Status::timeout);
                const std::string first = rank.executor().failure();
                EXPECT_NE(first.find("from rank 1 through port -0"), std::string::npos) << first;
                EXPECT_EQ(rank.run(program, data), Status::timeout);
                EXPECT_EQ(rank.executor().failure(), first);
                failed = true;
                return;
            }
            while (!failed) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            // Rank 0's message is here, and rank 0's word that it has failed.
            const Status status = rank.run(program, data);
            EXPECT_TRUE(status == Status::success || status == Status::peer_lost);
        },
        options);
}

}  // namespace
}  // namespace trefoil::test
