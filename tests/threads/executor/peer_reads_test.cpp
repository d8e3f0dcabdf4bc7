// SPDX-License-Identifier: BSD-3-Clause
// Late readers: by copies they throw away what was withdrawn, by addresses the owner waits for
// them.
#include "threads/executor/peer_reads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "backend/ports/read_guard.hpp"
#include "tests/backend/ports/silent_group.hpp"

namespace trefoil::test {
namespace {

/// Reaches one peer, whose guard the test plays.
class GuardedGroup final : public SilentGroup, public Pulling {
  public:
    explicit GuardedGroup(Reach reach) : SilentGroup({Port{0}}), reach_(reach) {
        powers_.pulling = this;
    }
    Reach reach(Peer) const override { return reach_; }
    bool copy_from(Peer, void*, std::uint64_t, std::size_t) const override { return false; }
    ReadGuard* own_guard(int) override { return &own; }
    const ReadGuard* guard_of(Peer, int) const override { return &peer; }

    ReadGuard own{}, peer{};

  private:
    Reach reach_;
};

struct Fixture {
    explicit Fixture(Reach reach) {
        auto owned = std::make_unique<GuardedGroup>(reach);
        group = owned.get();
        channels.groups.push_back(std::move(owned));
        channels.out[channels.add_out(4, Port{0})].connected = true;
    }
    bool begin() { return reads.begin(peers); }
    void end() { reads.end(peers); }

    Channels channels;
    GuardedGroup* group = nullptr;
    WakeUp wake_up{channels.groups};
    Failure failure{wake_up, 0};
    PeerReads reads{channels, failure};
    const std::array<std::uint32_t, 1> peers{0};
};

constexpr std::uint64_t call = 0x1234567890abcdef;

TEST(PeerReads, WhatWasCopiedBeforeTheOwnerGaveUpCounts) {
    Fixture f(Reach::copies);
    f.reads.open(call);
    f.group->peer.call = f.group->own.call.load();
    EXPECT_NE(f.group->own.call, 0U);
    ASSERT_TRUE(f.begin());
    f.end();
    EXPECT_FALSE(f.failure.happened());
    EXPECT_EQ(f.group->own.readers, 0U);
}

TEST(PeerReads, WhatWasCopiedFromAnOwnerThatGaveUpIsThrownAway) {
    Fixture f(Reach::copies);
    f.reads.open(call);
    f.group->peer.call = f.group->own.call.load();
    ASSERT_TRUE(f.begin());
    f.group->peer.call = 0;
    f.end();
    EXPECT_EQ(f.failure.status(), Status::peer_lost);
    EXPECT_EQ(f.failure.cause().blame.culprit, 4);
    EXPECT_EQ(f.group->own.readers, 0U);
}

TEST(PeerReads, AnotherCallOfTheOwnerIsNotThisOne) {
    Fixture f(Reach::copies);
    f.reads.open(call);
    f.group->peer.call = (call + 2) | 1;
    ASSERT_TRUE(f.begin());
    f.end();
    EXPECT_TRUE(f.failure.happened());
}

TEST(PeerReads, ByAddressesNothingIsReadOfAnOwnerThatGaveUp) {
    Fixture f(Reach::addresses);
    f.reads.open(call);
    EXPECT_FALSE(f.begin());
    EXPECT_EQ(f.failure.status(), Status::peer_lost);
    EXPECT_EQ(f.group->own.readers, 0U) << "nobody would ever lower it";
}

TEST(PeerReads, ByAddressesAReaderShows) {
    Fixture f(Reach::addresses);
    f.reads.open(call);
    f.group->peer.call = f.group->own.call.load();
    ASSERT_TRUE(f.begin());
    EXPECT_EQ(f.group->own.readers, 1U);
    f.end();
    EXPECT_EQ(f.group->own.readers, 0U);
}

TEST(PeerReads, AnOwnerWaitsForReadersByAddresses) {
    Fixture f(Reach::addresses);
    f.reads.open(call);
    f.group->peer.readers = 1;
    std::atomic<bool> left{false};
    std::thread reader([&] {
        while (f.group->own.call != 0) {
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        left = true;
        f.group->peer.readers = 0;
    });
    f.reads.withdraw();
    EXPECT_TRUE(left);
    reader.join();
}

TEST(PeerReads, AnOwnerWaitsForNoPeerThatItIsNotConnectedTo) {
    Fixture f(Reach::addresses);
    f.channels.out[0].connected = false;
    f.reads.open(call);
    f.group->peer.readers = 1;  // whoever this guard is of
    f.reads.withdraw();
    EXPECT_EQ(f.group->own.call, 0U);
}

TEST(PeerReads, AnOwnerWaitsForNoReaderByCopies) {
    Fixture f(Reach::copies);
    f.reads.open(call);
    f.group->peer.readers = 1;  // it may be stopped
    f.reads.withdraw();
    EXPECT_EQ(f.group->own.call, 0U);
}

}  // namespace
}  // namespace trefoil::test
