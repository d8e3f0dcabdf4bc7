// SPDX-License-Identifier: BSD-3-Clause
// The life of a channel, step by step: hello, early or not, farewell, gone.
#include "threads/connections/wiring.hpp"

#include <gtest/gtest.h>

#include "tests/threads/connections/ranks.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

constexpr std::uint64_t world = 77;
/// Messages go from rank 0 through its port +0 to rank 1.
const ChannelKey at_sender{world, 1, Port{0}};
const ChannelKey at_receiver{world, 0, Port{1}};

/// What both post offices hold for their connection.
constexpr std::size_t held = LandingArena::aligned(MailboxLayout::answer_bytes);

TEST(Wiring, TellsTheSenderWhereToPut) {
    Ranks ranks(2);
    ranks[0].wiring().begin(world);
    ranks[1].wiring().begin(world);
    EXPECT_EQ(ranks[0].wiring().wire_of(at_sender), nullptr);
    Landing& landing = ranks[1].wiring().want(at_receiver, 128, 4);
    EXPECT_EQ(&ranks[1].wiring().want(at_receiver, 128, 4), &landing) << "the same again";
    ranks.settle({0, 1});
    ASSERT_EQ(ranks.wired(0).size(), 1U);
    Wire& wire = *ranks.wired(0)[0];
    EXPECT_EQ(ranks[0].wiring().wire_of(at_sender), &wire);
    EXPECT_EQ(wire.id, landing.id);
    EXPECT_EQ(wire.proof, landing.proof);
    EXPECT_NE(wire.proof, 0U);
    EXPECT_EQ(wire.slot_bytes, 128U);
    EXPECT_EQ(wire.slots, 4U);
    ranks[0].put(wire, 3, "through the wire");
    ranks.run({0, 1}, [&] { return ranks.arrived(1).size() == 1; });
    EXPECT_EQ(std::memcmp(landing.data + 3 * 128, "through the wire", 16), 0);
}

TEST(Wiring, KeepsAnEarlyHello) {
    Ranks ranks(2);
    ranks[1].wiring().want(at_receiver, 128, 4);
    ranks.settle({0, 1});
    EXPECT_TRUE(ranks.wired(0).empty());
    EXPECT_EQ(ranks[0].wiring().numbers().early, 1U);
    ranks[0].wiring().begin(world);
    ASSERT_EQ(ranks.wired(0).size(), 1U);
    EXPECT_EQ(ranks[0].wiring().numbers().early, 0U);
    EXPECT_NE(ranks[0].wiring().wire_of(at_sender), nullptr);
}

TEST(Wiring, ReusesMemoryAfterTheSendersFarewellAlone) {
    Ranks ranks(2);
    ranks[0].wiring().begin(world);
    ranks[1].wiring().begin(world);
    ranks[1].wiring().want(at_receiver, 128, 4);
    ranks.settle({0, 1});
    ranks[1].wiring().end(world);
    ranks.settle({0, 1});
    EXPECT_EQ(ranks[1].wiring().numbers().waiting, 1U);
    EXPECT_EQ(ranks[1].arena().bytes_used(), held + 512) << "rank 0 may still put";
    EXPECT_TRUE(ranks.wired(0)[0]->peer_left);
    ranks[0].wiring().end(world);
    ranks.settle({0, 1});
    EXPECT_EQ(ranks[1].wiring().numbers().waiting, 0U);
    EXPECT_EQ(ranks[1].arena().bytes_used(), held);
    EXPECT_EQ(ranks[0].wiring().numbers().wires, 0U);
}

TEST(Wiring, TellsEitherEndThatTheOtherHasLeft) {
    for (const Rank first : {0, 1}) {
        Ranks ranks(2);
        ranks[0].wiring().begin(world);
        ranks[1].wiring().begin(world);
        ranks[1].wiring().want(at_receiver, 128, 4);
        ranks.settle({0, 1});
        EXPECT_TRUE(ranks.left(0).empty());
        EXPECT_TRUE(ranks.left(1).empty());
        ranks[first].wiring().end(world);
        ranks.settle({0, 1});
        EXPECT_TRUE(ranks.left(first).empty());
        const ChannelKey key = first == 0 ? at_receiver : at_sender;
        EXPECT_EQ(ranks.left(1 - first), std::vector<ChannelKey>{key});
        ranks[1 - first].wiring().end(world);
        ranks.settle({0, 1});
        EXPECT_TRUE(ranks.left(first).empty()) << "it has no such communicator any more";
    }
}

TEST(Wiring, AGreetingSaysNothingButShowsThatBothWaysWork) {
    Ranks ranks(2);
    ranks[0].wiring().greet(1, Port{0});
    ranks.run({0}, 3);
    EXPECT_EQ(ranks[0].post().unanswered().size(), 1U);
    ranks.settle({0, 1});
    EXPECT_EQ(ranks[1].post().find(0, Port{1})->taken, 1U);
    EXPECT_TRUE(ranks.letters(1).empty());
    EXPECT_TRUE(ranks.wired(1).empty());
}

TEST(Wiring, ReusesMemoryWhenAllPutsHaveCome) {
    Ranks ranks(2);
    ranks[0].wiring().begin(world);
    ranks[1].wiring().begin(world);
    Landing& landing = ranks[1].wiring().want(at_receiver, 128, 4);
    ranks.settle({0, 1});
    Wire& wire = *ranks.wired(0)[0];
    ++wire.puts;  // one that the farewell will overtake
    ranks[0].wiring().end(world);
    ranks.settle({0, 1});
    EXPECT_TRUE(landing.peer_left);
    const std::uint32_t id = landing.id;
    ranks[1].wiring().end(world);
    ranks.settle({0, 1});
    ranks.run({0, 1}, 5);
    EXPECT_EQ(ranks[1].arena().bytes_used(), held + 512);
    EXPECT_EQ(ranks[1].wiring().arrived(id), nullptr) << "nobody wants it any more";
    EXPECT_TRUE(ranks[1].wiring().progress());
    EXPECT_EQ(ranks[1].arena().bytes_used(), held);
    EXPECT_EQ(ranks[1].wiring().arrived(id), nullptr);
}

TEST(Wiring, DropsAHelloForACommunicatorThatHasEnded) {
    Ranks ranks(2);
    ranks[0].wiring().begin(world);
    ranks[0].wiring().end(world);
    ranks[1].wiring().begin(world);
    ranks[1].wiring().want(at_receiver, 128, 4);
    ranks.settle({0, 1});
    EXPECT_EQ(ranks[0].wiring().numbers().early, 1U) << "who knows whether it comes";
    ranks[1].wiring().end(world);
    ranks.settle({0, 1});
    EXPECT_EQ(ranks[0].wiring().numbers().early, 0U);
    ranks.run({1}, 2);
    EXPECT_EQ(ranks[1].arena().bytes_used(), held);
}

TEST(Wiring, TakesNumbersAgainTheLongestUnusedFirst) {
    Ranks ranks(2);
    for (int round = 0; round < 3; ++round) {
        Landing* last = nullptr;
        for (int i = 0; i < 3; ++i) {
            ranks[0].wiring().begin(world + 3 * round + i);
            ranks[1].wiring().begin(world + 3 * round + i);
            last = &ranks[1].wiring().want({world + 3 * round + i, 0, Port{1}}, 64, 1);
        }
        EXPECT_EQ(last->id, 2U);
        ranks.settle({0, 1});
        for (int i = 0; i < 3; ++i) {
            ranks[0].wiring().end(world + 3 * round + i);
            ranks[1].wiring().end(world + 3 * round + i);
        }
        ranks.settle({0, 1});
        ranks.run({0, 1}, 2);
        EXPECT_EQ(ranks[1].wiring().numbers().waiting, 0U);
    }
}

TEST(Wiring, HasNoMoreChannelsThanNotificationsCanName) {
    Ranks ranks(2);
    Wiring few(ranks[1].post(), ranks[1].arena(), 2, {});
    few.want({world, 0, Port{1}}, 64, 1);
    few.want({world + 1, 0, Port{1}}, 64, 1);
    const std::size_t used = ranks[1].arena().bytes_used();
    try {
        few.want({world + 2, 0, Port{1}}, 64, 1);
        FAIL() << "a number that no notification can carry";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::unsupported);
    }
    EXPECT_EQ(ranks[1].arena().bytes_used(), used);
    EXPECT_EQ(few.numbers().landings, 2U);
}

TEST(Wiring, DoesNotReuseMemoryOfAPeerThatDied) {
    Ranks ranks(2);
    ranks[0].wiring().begin(world);
    ranks[1].wiring().begin(world);
    Landing& landing = ranks[1].wiring().want(at_receiver, 128, 4);
    ranks[0].wiring().want(at_sender, 64, 1);
    ranks.settle({0, 1});
    ranks[1].wiring().lose(0);
    EXPECT_TRUE(landing.peer_left);
    EXPECT_TRUE(ranks.wired(1)[0]->peer_left);
    ranks[1].wiring().end(world);
    ranks.run({1}, 10);
    EXPECT_EQ(ranks[1].arena().bytes_used(), held + 512) << "its last puts may still land";
    EXPECT_EQ(ranks[1].wiring().numbers().waiting, 1U);
    EXPECT_TRUE(ranks[1].post().is_quiet());
}

TEST(Wiring, LeavesWithoutWaitingForThoseWhoHaveLeft) {
    Ranks ranks(2);
    ranks[0].wiring().begin(world);
    ranks[1].wiring().begin(world);
    ranks[1].wiring().want(at_receiver, 128, 4);
    ranks.settle({0, 1});
    for (const Rank rank : {0, 1}) {
        ranks[rank].wiring().end(world);
        ranks[rank].wiring().leave();
    }
    ranks.run({0, 1}, [&] { return ranks[0].post().is_quiet() && ranks[1].post().is_quiet(); });
    ranks.run({1}, 2);
    EXPECT_EQ(ranks[1].wiring().numbers().waiting, 0U) << "farewell came before the rank left";
}

TEST(Wiring, LeavesAPeerThatAnswersNothing) {
    Ranks ranks(2);
    ranks[0].wiring().begin(world);
    ranks[1].wiring().begin(world);
    ranks[1].wiring().want(at_receiver, 128, 4);
    ranks.settle({0, 1});
    ranks[0].wiring().end(world);
    ranks.run({0}, 10);
    ASSERT_FALSE(ranks[0].post().unanswered().empty());
    ranks[0].wiring().leave();
    ranks.run({0}, [&] { return ranks[0].post().is_quiet(); });
    ranks.run({1}, 10);
    EXPECT_FALSE(ranks.left(1).empty());
    ranks[1].wiring().end(world);
    ranks.run({1}, 2);
    EXPECT_EQ(ranks[1].wiring().numbers().waiting, 0U) << "farewell came before the rank left";
}

}  // namespace
}  // namespace trefoil::test
