// SPDX-License-Identifier: BSD-3-Clause
// The first words between neighbours: who stays silent is named, with both ends.
#include "threads/executor/handshake.hpp"

#include "backend/ports/forwarding_group.hpp"
#include "loose_group.hpp"
#include "ring.hpp"
#include "tests/sanitizers.hpp"

namespace trefoil::test::handshake_test {
namespace {

using std::chrono::milliseconds;

/// What the rank hears of its handshake; "" if nothing is wrong.
std::string complaint_of(RingRank& rank, milliseconds timeout, Status expected = Status::timeout,
                         bool far = false) {
    try {
        rank.greet(timeout, far);
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), expected) << error.what();
        return error.what();
    }
    return {};
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class HandshakeOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, HandshakeOf, testing::Values(1, 2));

TEST_P(HandshakeOf, NeighboursIsCompleteWhenAllHaveAnswered) {
    RingOfRanks ring(4, GetParam(), loose_groups);
    ring.on_each([](Rank, RingRank& rank) {
        EXPECT_NO_THROW(rank.greet());
        for (std::size_t g = 0; g < rank.groups().size(); ++g) {
            const Engine::Exclusive held(rank.engine());
            EXPECT_TRUE(rank.engine().links(g).post().unanswered().empty());
        }
    });
}

TEST_P(HandshakeOf, OneThatIsSilentNamesBothEndsOfBothDirections) {
    RingOfRanks ring(2, GetParam(), memory_groups);
    const std::string text = complaint_of(ring[0], milliseconds(50));
    EXPECT_TRUE(has(text, "directions failed their test within 50 ms: ")) << text;
    for (const char* const port : {"+0", "-0"}) {
        const std::string own = "direction " + std::string(port) + " of rank 0 (host here";
        const std::string other =
            "direction " + std::string(port[0] == '+' ? "-0" : "+0") + " of rank 1 (host here";
        EXPECT_TRUE(has(text, "cannot connect " + own)) << text;
        EXPECT_TRUE(has(text, "hears nothing from " + other)) << text;
    }
}

// Rank 0's wire to rank 1 works: only the one to rank 2 is at fault.
TEST_P(HandshakeOf, OneThatIsSilentDoesNotAccuseTheOthers) {
    RingOfRanks ring(3, GetParam(), memory_groups);
    ring.on_each([](Rank r, RingRank& rank) {
        if (r == 2) {
            return;
        }
        const std::string text = complaint_of(rank, milliseconds(1000));
        const std::string own = r == 0 ? "direction -0 of rank 0" : "direction +0 of rank 1";
        const std::string good = r == 0 ? "direction +0 of rank 0" : "direction -0 of rank 1";
        EXPECT_TRUE(has(text, own)) << text;
        EXPECT_TRUE(has(text, "of rank 2")) << text;
        EXPECT_FALSE(has(text, good)) << text;
    });
}

TEST_P(HandshakeOf, StrangersIsRefusedAndSaid) {
    RingOfRanks ring(2, GetParam(), memory_groups, false, [](Rank rank) -> Prove {
        if (rank == 0) {
            return prove;
        }
        return [](std::string_view text) { return ~prove(text); };
    });
    ring.on_each([](Rank r, RingRank& rank) {
        const std::string text = complaint_of(rank, milliseconds(500));
        EXPECT_TRUE(has(text, "messages came from somewhere else")) << "rank " << r << ": " << text;
    });
}

/// A network that carries small frames alone: what is longer is lost without a word, in the
/// direction of rank 1, or the first time only.
class ShortFrames : public ForwardingGroup {
  public:
    enum class Loses { to_rank_1, first };
    ShortFrames(std::unique_ptr<PortGroup> inner, Rank rank, Loses loses)
        : ForwardingGroup(std::move(inner)), rank_(rank), loses_(loses) {
        traits_.may_lose_puts = true;
    }
    PutResult put(const Put& put) override {
        if (put.bytes > 1500 && (loses_ == Loses::to_rank_1 ? rank_ == 0 : lost_++ == 0)) {
            return PutResult::done;
        }
        return ForwardingGroup::put(put);
    }

  private:
    Rank rank_;
    Loses loses_;
    int lost_ = 0;
};

MakeGroups short_frames(ShortFrames::Loses loses) {
    return [loses](Rank rank, std::vector<std::vector<Port>> ports) {
        auto groups = memory_groups(rank, std::move(ports));
        for (auto& group : groups) {
            group = std::make_unique<ShortFrames>(std::move(group), rank, loses);
        }
        return groups;
    };
}

TEST_P(HandshakeOf, FarRanksTriesManyBytes) {
    RingOfRanks ring(4, GetParam(), loose_groups);
    ring.on_each([](Rank r, RingRank& rank) {
        EXPECT_NO_THROW(rank.greet(milliseconds(30'000), true));
        for (std::size_t g = 0; g < rank.groups().size(); ++g) {
            const Engine::Exclusive held(rank.engine());
            const Port port = rank.groups()[g]->ports().front();
            const Rank peer = (r + (port.index == 0 ? 1 : 3)) % 4;
            EXPECT_TRUE(rank.engine().links(g).post().find(peer, port)->trial_taken);
        }
    });
}

TEST_P(HandshakeOf, FarRanksSaysWhereNoLongFramesPass) {
    RingOfRanks ring(2, GetParam(), short_frames(ShortFrames::Loses::to_rank_1));
    ring.on_each([](Rank r, RingRank& rank) {
        const std::string text = complaint_of(rank, milliseconds(1000), Status::timeout, true);
        EXPECT_TRUE(has(text,
                        "small messages arrive, but none of 12288 bytes from direction +0 "
                        "of rank 0 (host here"))
            << "rank " << r << ": " << text;
        EXPECT_TRUE(has(text, "is the MTU of something on the way smaller")) << text;
        EXPECT_FALSE(has(text, "bytes from direction +0 of rank 1")) << text;
        EXPECT_FALSE(has(text, "cannot connect")) << text;
    });
}

TEST_P(HandshakeOf, FarRanksTriesAgainWhatGetsLost) {
    if (under_thread_sanitizer) {
        GTEST_SKIP() << "what is sent again lands where the peer may be reading the same bytes";
    }
    RingOfRanks ring(2, GetParam(), short_frames(ShortFrames::Loses::first));
    ring.on_each(
        [](Rank, RingRank& rank) { EXPECT_NO_THROW(rank.greet(milliseconds(30'000), true)); });
}

TEST(Handshake, MayBeLookedAtInBetween) {
    RingOfRanks ring(2, 1, memory_groups);
    Handshake::Options options;
    Handshake handshake(ring[0].engine(), {{1, Port{0}}, {1, Port{1}}}, options);
    handshake.begin();
    EXPECT_FALSE(handshake.greet_for(milliseconds(5)));
    EXPECT_TRUE(has(handshake.missing_text(), "hears nothing from direction -0 of rank 1"))
        << handshake.missing_text();
    std::thread other([&] { EXPECT_NO_THROW(ring[1].greet()); });
    while (!handshake.greet_for(milliseconds(5))) {
    }
    other.join();
    EXPECT_EQ(handshake.missing_text(), "");
    EXPECT_EQ(handshake.reach(),
              reach_of(*ring[0].groups()[0],
                       ring[0].engine().links(0).post().find(1, Port{0})->endpoint));
}

TEST(Handshake, CallsTheCallersProgressWhileItWaits) {
    RingOfRanks ring(2, 1, memory_groups);
    int calls = 0;
    Handshake::Options options;
    options.progress = {[](void* count) { ++*static_cast<int*>(count); }, &calls};
    Handshake handshake(ring[0].engine(), {{1, Port{0}}}, options);
    handshake.begin();
    EXPECT_FALSE(handshake.greet_for(milliseconds(5)));
    EXPECT_GT(calls, 0);
}

TEST(Handshake, ThroughAPortThatWasNotOpenedFailsAtOnce) {
    RingOfRanks ring(2, 1, memory_groups);
    Handshake handshake(ring[0].engine(), {{1, Port{0}}, {1, Port{2}}}, {});
    try {
        handshake.begin();
        ADD_FAILURE() << "there is no such port";
    } catch (const Error& error) {
        EXPECT_TRUE(has(error.what(), "port +1 was not opened")) << error.what();
    }
}

}  // namespace
}  // namespace trefoil::test::handshake_test
