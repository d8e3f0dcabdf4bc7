// SPDX-License-Identifier: BSD-3-Clause
// Several executors on one engine, with the same peers: side by side, early, late, and gone.
#include "several_executors.hpp"

#include "backend/ports/forwarding_group.hpp"
#include "topo/patience.hpp"

namespace trefoil::test {
namespace {

using std::chrono::milliseconds;

INSTANTIATE_TEST_SUITE_P(Groups, SeveralExecutors,
                         testing::Combine(testing::Values(NamedGroups{"memory", memory_groups},
                                                          NamedGroups{"loose", loose_groups}),
                                          testing::Values(1, 2)),
                         name_of);

TEST_P(SeveralExecutors, RunCallsSideBySideFromThreadsOfTheirOwn) {
    constexpr int ranks = 3;
    on_ring(ranks, [](Rank, RingRank& rank) {
        const auto second = rank.join(second_communicator);
        std::thread other([&] { expect_sums(*second, ranks, 50); });
        expect_sums(rank.first(), ranks, 50);
        other.join();
    });
}

TEST_P(SeveralExecutors, ComeAndGoWhileOthersRun) {
    constexpr int ranks = 2;
    on_ring(ranks, [](Rank, RingRank& rank) {
        std::thread others([&] {
            for (std::uint64_t i = 0; i < 20; ++i) {
                const auto passing = rank.join(1000 + i);
                expect_sums(*passing, ranks, 3);
            }
        });
        expect_sums(rank.first(), ranks, 100);
        others.join();
    });
}

// What rank 0 says of the second communicator comes while rank 1 makes calls of the first, and has
// no second one yet.
TEST_P(SeveralExecutors, ALateOneGetsTheEarlyHellosOfItsPeers) {
    Meeting meeting(2);
    std::atomic<bool> waits{false};
    on_ring(2, [&](Rank r, RingRank& rank) {
        expect_sums(rank.first(), 2, 1);
        if (r == 0) {
            const auto second = rank.join(second_communicator);
            std::thread other([&] {
                waits = true;
                expect_sums(*second, 2, 5);
            });
            expect_sums(rank.first(), 2, 20);
            meeting.arrive();
            other.join();
            return;
        }
        while (!waits) {
            std::this_thread::sleep_for(milliseconds(1));
        }
        std::this_thread::sleep_for(milliseconds(20));
        expect_sums(rank.first(), 2, 20);
        {
            const Engine::Exclusive held(rank.engine());
            std::size_t early = 0;
            for (std::size_t g = 0; g < rank.groups().size(); ++g) {
                early += rank.engine().links(g).wiring().numbers().early;
            }
            EXPECT_GT(early, 0U);
        }
        meeting.arrive();
        const auto second = rank.join(second_communicator);
        expect_sums(*second, 2, 5);
    });
}

// Nothing waits for a peer but the puts to it.
TEST_P(SeveralExecutors, APutWaitsUntilThePeerComesToTheCommunicator) {
    std::atomic<bool> put{false};
    on_ring(2, [&](Rank r, RingRank& rank) {
        const auto program_of = [](RingMember& member, bool sends) {
            ProgramWriter w = member.writer();
            w.part();
            w.step();
            if (sends) {
                w.put(0, {Location::output, 0}, 4);
            } else {
                w.after(ProgramOp::copy({Location::output, 0}, w.arrival(1, 4), 4));
            }
            Program program = w.take(!sends);
            program.acknowledged = true;
            return program;
        };
        if (r == 1) {
            std::this_thread::sleep_for(milliseconds(100));
            EXPECT_FALSE(put) << "where to?";
        }
        const auto second = rank.join(second_communicator);
        const Program program = program_of(*second, r == 0);
        second->executor().reserve(program);
        std::vector<std::int32_t> data(1, r == 0 ? 5 : -1);
        ASSERT_EQ(second->run(program, data), Status::success) << second->executor().failure();
        put = true;
        EXPECT_EQ(data[0], 5);
        expect_sums(rank.first(), 2, 5);  // so that acknowledgements are taken
    });
}

// Nothing is left behind by communicators that have come and gone.
TEST_P(SeveralExecutors, LandingMemoryIsUsedAgain) {
    on_ring(2, [](Rank, RingRank& rank) {
        expect_sums(rank.first(), 2, 1);
        const auto numbers = [&rank] {
            const Engine::Exclusive held(rank.engine());
            Wiring::Numbers sum;
            for (std::size_t g = 0; g < rank.groups().size(); ++g) {
                const Wiring::Numbers of_group = rank.engine().links(g).wiring().numbers();
                sum.landings += of_group.landings;
                sum.waiting += of_group.waiting;
                sum.wires += of_group.wires;
                sum.early += of_group.early;
            }
            return sum;
        };
        for (std::uint64_t i = 0; i < 30; ++i) {
            const auto passing = rank.join(1000 + i);
            expect_sums(*passing, 2, 1);
        }
        expect_sums(rank.first(), 2, 20);
        EXPECT_LE(numbers().waiting, 4U) << "but for the last ones";
        EXPECT_EQ(numbers().landings, 2U);
    });
}

/// What comes while it closes would harm it.
class ClosesLast final : public ForwardingGroup {
  public:
    explicit ClosesLast(std::unique_ptr<PortGroup> inner) : ForwardingGroup(std::move(inner)) {
        traits_.closes_after_peers = true;
    }
};

std::vector<std::unique_ptr<PortGroup>> groups_that_close_last(
    Rank rank, std::vector<std::vector<Port>> ports) {
    std::vector<std::unique_ptr<PortGroup>> groups = memory_groups(rank, std::move(ports));
    for (auto& group : groups) {
        group = std::make_unique<ClosesLast>(std::move(group));
    }
    return groups;
}

TEST(EngineEnd, WaitsForPeersThatMayStillPut) {
    using Clock = std::chrono::steady_clock;
    for (const int workers : {1, 2}) {
        std::atomic<bool> ends{false}, peer_leaves{false};
        RingOfRanks ring(2, workers, groups_that_close_last);
        ring[0].join_first({});
        ring[1].join_first({});
        ring.on_each([&](Rank r, RingRank& rank) {
            const Program program = ring_sum(rank, 2, 10);
            rank.executor().reserve(program);
            std::vector<std::int32_t> data(10, 1);
            ASSERT_EQ(rank.run(program, data), Status::success);
            if (r == 0) {
                const auto began = Clock::now();
                ends = true;
                rank.end();
                const bool in_vain = Clock::now() - began >= patience().longest_drain;
                EXPECT_TRUE(peer_leaves || in_vain);
            } else {
                while (!ends) {
                    std::this_thread::sleep_for(milliseconds(1));
                }
                std::this_thread::sleep_for(milliseconds(50));
                peer_leaves = true;
                rank.end();
            }
        });
    }
}

}  // namespace
}  // namespace trefoil::test
