// SPDX-License-Identifier: BSD-3-Clause
// Allgathers without waiting, for each number of ranks, with messages in any order.
#include "threads/connections/gathering.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <random>
#include <set>

#include "tests/threads/connections/ranks.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

std::string text_of_member(std::size_t place) {
    return std::string(place % 5, 'x') + std::to_string(place);
}

/// Members at random ranks, who begin at random times, while messages overtake each other.
void gather(std::size_t count, unsigned seed) {
    std::minstd_rand random(seed);
    std::vector<Rank> members;
    for (std::size_t i = 0; i < count; ++i) {
        members.push_back(static_cast<Rank>(3 * i));
    }
    std::shuffle(members.begin(), members.end(), random);
    struct Message {
        Rank from, to;
        std::uint64_t tag;
        std::string text;
    };
    std::deque<Message> under_way;
    std::map<Rank, std::unique_ptr<Gatherings>> ranks;
    std::map<Rank, std::set<Rank>> peers;
    std::size_t messages = 0;
    for (const Rank rank : members) {
        ranks[rank] =
            std::make_unique<Gatherings>([&, rank](Rank to, std::uint64_t tag, std::string_view t) {
                under_way.push_back({rank, to, tag, std::string(t)});
                peers[rank].insert(to);
                peers[to].insert(rank);
                ++messages;
            });
    }
    std::size_t begun = 0;
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), random);
    while (begun < count || !under_way.empty()) {
        if (begun < count && (under_way.empty() || random() % 2 == 0)) {
            const std::size_t place = order[begun++];
            ranks[members[place]]->begin(9, members, place, text_of_member(place));
        } else {
            std::swap(under_way[random() % under_way.size()], under_way.back());
            const Message message = under_way.back();
            under_way.pop_back();
            ranks[message.to]->take(message.from, message.tag, message.text);
        }
    }
    for (const Rank rank : members) {
        const Gathering* const gathering = ranks[rank]->find(9);
        ASSERT_NE(gathering, nullptr);
        ASSERT_TRUE(gathering->complete()) << count << " ranks";
        EXPECT_TRUE(gathering->missing().empty());
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(gathering->texts()[i], text_of_member(i));
        }
        EXPECT_LE(peers[rank].size(), static_cast<std::size_t>(std::bit_width(count)));
        ranks[rank]->end(9);
        EXPECT_EQ(ranks[rank]->size(), 0U);
    }
    EXPECT_EQ(messages, 2 * (count - 1));
}

TEST(Gathering, BringsAllTextsToAll) {
    for (std::size_t count = 1; count <= 33; ++count) {
        gather(count, static_cast<unsigned>(count));
    }
    gather(512, 7);
}

TEST(Gathering, TellsWhoIsMissing) {
    std::vector<std::pair<Rank, std::string>> sent;
    Gathering gathering({10, 11, 12, 13}, 2, "mine", [&](Rank to, std::string_view text) {
        sent.push_back({to, std::string(text)});
    });
    EXPECT_TRUE(sent.empty());
    EXPECT_EQ(gathering.missing(), (std::vector<Rank>{13}));
    Gathering leaf({10, 11, 12, 13}, 3, "leaf", [&](Rank to, std::string_view text) {
        EXPECT_EQ(to, 12);
        gathering.take(13, text);
    });
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].first, 10);
    EXPECT_EQ(gathering.missing(), (std::vector<Rank>{10}));
}

TEST(Gathering, RefusesWhatCannotBe) {
    Gathering root({10, 11, 12}, 0, "mine", [](Rank, std::string_view) {});
    EXPECT_THROW(root.take(13, "x"), Error) << "no member";
    EXPECT_THROW(root.take(11, "x"), Error) << "no text";
    EXPECT_EQ(root.missing(), (std::vector<Rank>{11, 12}));
    Gathering leaf({10, 11}, 1, "leaf", [](Rank, std::string_view) {});
    EXPECT_THROW(leaf.take(10, std::string(40, '\1')), Error);
    EXPECT_FALSE(leaf.complete());
}

/// With rank 11, which this one waits for.
std::unique_ptr<Gatherings> begun_with_one() {
    auto gatherings = std::make_unique<Gatherings>([](Rank, std::uint64_t, std::string_view) {});
    gatherings->begin(7, {10, 11}, 0, "mine");
    return gatherings;
}

TEST(Gathering, FailsAloneByWhatCannotBe) {
    const auto gatherings = begun_with_one();
    EXPECT_FALSE(gatherings->failure(7));
    EXPECT_NO_THROW(gatherings->take(11, 7, "no text")) << "it would end all that go the same way";
    ASSERT_TRUE(gatherings->failure(7));
    EXPECT_EQ(gatherings->failure(7)->status(), Status::mismatch);
}

TEST(Gathering, LeavesNothingBehindThatWasGivenUp) {
    const auto gatherings = begun_with_one();
    gatherings->end(7);
    gatherings->take(11, 7, "too late");
    EXPECT_EQ(gatherings->size(), 0U);
    gatherings->take(11, 8, "no text");
    EXPECT_THROW(gatherings->begin(8, {10, 11}, 0, "mine"), Error);
    gatherings->take(11, 8, "the rest");
    EXPECT_EQ(gatherings->size(), 0U);
}

TEST(Gathering, GoesThroughLetters) {
    constexpr Rank count = 9;
    std::vector<std::unique_ptr<Gatherings>> parts;
    Ranks ranks(count);
    std::vector<Rank> members;
    for (Rank rank = 0; rank < count; ++rank) {
        members.push_back(rank);
        parts.push_back(std::make_unique<Gatherings>(
            [&ranks, rank](Rank to, std::uint64_t tag, std::string_view text) {
                ranks[rank].wiring().letter(to, Port{0}, tag, text);
            }));
    }
    for (const std::uint64_t tag : {1, 2}) {
        for (Rank rank = 0; rank < count; ++rank) {
            parts[rank]->begin(tag, members, static_cast<std::size_t>(rank),
                               std::to_string(rank * 10));
        }
    }
    std::vector<std::size_t> read(count);
    ranks.run(members, [&] {
        bool done = true;
        for (Rank rank = 0; rank < count; ++rank) {
            for (; read[rank] < ranks.letters(rank).size(); ++read[rank]) {
                const Ranks::Letter& letter = ranks.letters(rank)[read[rank]];
                parts[rank]->take(letter.from, letter.tag, letter.text);
            }
            done &= parts[rank]->find(1)->complete() && parts[rank]->find(2)->complete();
        }
        return done;
    });
    EXPECT_EQ(parts[5]->find(2)->texts()[8], "80");
}

}  // namespace
}  // namespace trefoil::test
