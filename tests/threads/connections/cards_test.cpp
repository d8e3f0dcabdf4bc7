// SPDX-License-Identifier: BSD-3-Clause
// Cards, records and places as bytes: read back as written, and refused in words when they are not.
#include "threads/connections/cards.hpp"

#include <gtest/gtest.h>

#include "threads/connections/connection.hpp"
#include "threads/connections/mailbox.hpp"
#include "threads/connections/record.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

Card example() {
    Card card;
    card.host = "a";
    card.groups.resize(2);
    card.groups[0] = {"mailbox 0",
                      {{Port{0}, "address 0", "eth0"}, {Port{3}, "address 3", "eth1"}}};
    card.groups[1] = {"mailbox 1", {{Port{1}, "address 1", "eth2"}}};
    return card;
}

TEST(Cards, TellWhatItTakesToWriteToAPort) {
    const Cards cards({encode(example()), encode(example())});
    EXPECT_EQ(cards.ranks(), 2);
    EXPECT_GT(cards.bytes(), 2 * encode(example()).size());
    const Cards::End end = cards.end_of(1, Port{3});
    EXPECT_EQ(end.address, "address 3");
    EXPECT_EQ(end.mailbox, "mailbox 0");
    EXPECT_EQ(end.index, 1U);
    EXPECT_EQ(end.ports, 2U);
    EXPECT_EQ(cards.route_text(0, Port{0}, 1),
              "direction +0 of rank 0 (host a, NIC eth0) to direction -0 of rank 1 (host a, NIC "
              "eth2)");
    EXPECT_THROW(cards.end_of(1, Port{2}), Error);
}

TEST(Cards, TellWhoMapsItsPeersMemoryAtAllItsPorts) {
    Card one = example();
    one.groups.resize(1);
    EXPECT_FALSE(Cards({encode(one)}).maps_peers(0));
    one.groups[0].maps_peers = true;
    Card two = example();
    two.groups[0].maps_peers = two.groups[1].maps_peers = true;
    const Cards cards({encode(one), encode(two)});
    EXPECT_TRUE(cards.maps_peers(0));
    EXPECT_FALSE(cards.maps_peers(1)) << "each group has an owner of its own";
}

TEST(Cards, NameTheRankWhoseCardCannotBeRead) {
    const std::string whole = encode(example());
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        EXPECT_THROW(decode_card(whole.substr(0, bytes)), Error) << bytes;
    }
    EXPECT_THROW(decode_card(whole + "x"), Error);
    Card twice = example();
    twice.groups[1].ports[0].port = Port{0};
    try {
        const Cards cards({whole, encode(twice)});
        FAIL() << "a port twice";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::mismatch);
        EXPECT_EQ(std::string(error.what()).substr(0, 7), "rank 1:");
    }
}

TEST(Records, AreReadAsWrittenByThoseWhoKnowTheProof) {
    const Proof proof{1, 2};
    std::byte place[MailboxLayout::record_bytes];
    RecordCopy copy;
    const std::string text(record_payload, 'x');
    EXPECT_EQ(write_record(place, 9, text, proof), sizeof place);
    const auto record = read_record(place, copy, proof);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->number, 9U);
    EXPECT_EQ(record->payload, text);
    EXPECT_FALSE(read_record(place, copy, {1, 3}));
    for (std::size_t i = 0; i < sizeof place; i += 5) {
        place[i] ^= std::byte{4};
        EXPECT_FALSE(read_record(place, copy, proof)) << i;
        place[i] ^= std::byte{4};
    }
    std::fill_n(place, sizeof place, std::byte{0});
    EXPECT_FALSE(read_record(place, copy, proof)) << "fresh memory";
    write_answer(place, 9, true, proof);
    const auto answer = read_answer(place, proof);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->number, 9U);
    EXPECT_EQ(answer->has_tried, 1U);
    EXPECT_FALSE(read_answer(place, {1, 3}));
    place[3] ^= std::byte{1};
    EXPECT_FALSE(read_answer(place, proof));
}

TEST(Records, HoldEntriesThatMayBeCutAnywhere) {
    std::string stream;
    append_entry(stream, 7, "seven");
    append_entry(stream, 8, "");
    EXPECT_THROW(append_entry(stream, 9, std::string(entry_limit + 1, 'x')), Error);
    const auto first = first_entry(stream);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->kind, 7);
    EXPECT_EQ(first->body, "seven");
    for (std::size_t bytes = 0; bytes < first->bytes; ++bytes) {
        EXPECT_FALSE(first_entry(stream.substr(0, bytes)));
    }
    const auto second = first_entry(stream.substr(first->bytes));
    ASSERT_TRUE(second);
    EXPECT_EQ(second->kind, 8);
    EXPECT_TRUE(second->body.empty());
    EXPECT_THROW(first_entry(std::string("\x01\xff\xff\xff\xff", 5)), Error);
}

TEST(MailboxLayout, GivesEachPortOfEachRankPlacesOfItsOwn) {
    const MailboxLayout layout(3, 2);
    std::size_t end = 0;
    for (std::uint32_t place = 0; place < layout.places(); ++place) {
        EXPECT_EQ(layout.place_of(layout.rank_of(place), layout.port_index_of(place)), place);
        EXPECT_EQ(layout.answer_at(place), end);
        EXPECT_EQ(layout.record_at(place), end + MailboxLayout::answer_bytes);
        end += MailboxLayout::place_bytes;
    }
    EXPECT_EQ(layout.trial_at(), end);
    EXPECT_EQ(layout.bytes(), end + MailboxLayout::trial_bytes);
    EXPECT_NO_THROW(MailboxLayout(Signal::place_limit / 2, 2));
    EXPECT_THROW(MailboxLayout(Signal::place_limit / 2 + 1, 2), Error);
}

TEST(Signal, SharesNoBitsWithMessages) {
    const Signal signal{Signal::Kind::answer, Signal::place_limit - 1, 0xdeadbeef};
    const std::uint64_t bits = signal.encode();
    ASSERT_TRUE(Signal::is_signal(bits));
    const Signal read = Signal::decode(bits);
    EXPECT_EQ(read.kind, signal.kind);
    EXPECT_EQ(read.place, signal.place);
    EXPECT_EQ(read.proof, signal.proof);
    EXPECT_FALSE(Signal::is_signal(Signal::first_index - 1));
    EXPECT_FALSE(Signal::is_signal((1U << 13) - 1));
    EXPECT_TRUE(ConnectionCookie::is_one(ConnectionCookie::of_answer(9).bits()));
    EXPECT_TRUE(ConnectionCookie(ConnectionCookie::of_answer(9).bits()).is_answer());
    EXPECT_EQ(ConnectionCookie(ConnectionCookie::of_record(9).bits()).connection(), 9U);
}

}  // namespace
}  // namespace trefoil
