// SPDX-License-Identifier: BSD-3-Clause
// The links of a group: letters of its owner and of other threads, and what is broken.
#include "threads/connections/links.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/threads/connections/station.hpp"
#include "tests/threads/executor/recording_group.hpp"

namespace trefoil::test {
namespace {

struct Heard : LinkUser {
    void wired(Wire&) override {}
    void peer_left(const ChannelKey& key) override { left.push_back(key); }
    void letter(Rank from, Port own, std::uint64_t tag, std::string_view text) override {
        EXPECT_EQ(from, 0);
        EXPECT_EQ(own, Port{1});
        letters.push_back(std::to_string(tag) + ": " + std::string(text));
    }
    void broken(const BrokenConnection& connection) override { all_broken.push_back(connection); }

    std::vector<ChannelKey> left;
    std::vector<std::string> letters;
    std::vector<BrokenConnection> all_broken;
};

/// Two ranks; letters go between port +0 of rank 0 and port -0 of rank 1.
class LinksTest : public testing::Test {
  protected:
    struct End {
        explicit End(Rank rank)
            : group(std::move(groups_of("memory")(rank, {{Port{0}, Port{1}}})[0])),
              links(*group, rank, 2, 1U << 18, heard) {}

        bool progress() {
            bool moved = links.progress();
            Event events[16];
            const std::size_t count = group->poll(events);
            for (std::size_t i = 0; i < count; ++i) {
                moved |= events[i].kind == Event::Kind::arrived
                             ? links.post().take(events[i].notification)
                             : links.post().sent(events[i].cookie);
            }
            return moved;
        }

        Heard heard;
        std::unique_ptr<PortGroup> group;
        Links links;
    };

    LinksTest() {
        std::vector<std::string> encoded;
        for (const auto& end : ends_) {
            encoded.push_back(encode(Card{"here", {end->links.post().card()}}));
        }
        cards_ = std::make_unique<Cards>(std::move(encoded));
        for (const auto& end : ends_) {
            end->links.post().open(*cards_, prove);
        }
    }
    End& operator[](std::size_t rank) { return *ends_[rank]; }
    void run(const std::function<bool()>& done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done()) {
            (void)(*this)[0].progress();
            (void)(*this)[1].progress();
            ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it never happens";
        }
    }

    std::array<std::unique_ptr<End>, 2> ends_{std::make_unique<End>(0), std::make_unique<End>(1)};
    std::unique_ptr<Cards> cards_;
};

TEST_F(LinksTest, BringLettersOfTheOwner) {
    EXPECT_TRUE((*this)[0].links.letter(1, Port{0}, 7, "hello", Urgency::waits));
    run([&] { return (*this)[1].heard.letters.size() == 1; });
    EXPECT_EQ((*this)[1].heard.letters[0], "7: hello");
}

TEST_F(LinksTest, BringAnUrgentLetterPastAPeerThatHasNotTakenTheWordsBefore) {
    Links& links = (*this)[0].links;
    EXPECT_TRUE(links.letter(1, Port{0}, 1, "first", Urgency::waits));
    (void)links.progress();
    EXPECT_TRUE(links.letter(1, Port{0}, 1, "waits", Urgency::waits));
    EXPECT_TRUE(links.letter(1, Port{0}, 1, "urgent", Urgency::urgent));
    (void)links.progress();
    EXPECT_TRUE(links.letter(1, Port{0}, 1, "urgent, too", Urgency::urgent)) << "it waits";
    // From now on the first rank does nothing.
    const auto& heard = (*this)[1].heard.letters;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (heard.size() < 2 && std::chrono::steady_clock::now() < deadline) {
        (*this)[1].progress();
    }
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_TRUE(heard[0] == "1: urgent" || heard[1] == "1: urgent");
    run([&] { return heard.size() == 4 && links.is_quiet(); });
}

TEST_F(LinksTest, PassOverAPeerThatHasNotTakenTheWordsBeforeWhereThatIsAskedFor) {
    Links& links = (*this)[0].links;
    EXPECT_TRUE(links.letter(1, Port{0}, 1, "first", Urgency::dropped));
    (void)links.progress();
    EXPECT_FALSE(links.letter(1, Port{0}, 1, "dropped", Urgency::dropped))
        << "the first was not answered";
    EXPECT_TRUE(links.letter(1, Port{0}, 1, "second", Urgency::waits));
    run([&] { return (*this)[1].heard.letters.size() == 2 && links.is_quiet(); });
    EXPECT_EQ((*this)[1].heard.letters[1], "1: second");
    run([&] { return links.post().unanswered().empty(); });
    EXPECT_TRUE(links.letter(1, Port{0}, 1, "third", Urgency::dropped));
}

// Threads send while the owner drives. ThreadSanitizer looks at it, too.
TEST_F(LinksTest, BringLettersOfOtherThreadsInTheOrderOfEach) {
    constexpr int threads = 3, letters = 200;
    std::vector<std::thread> senders;
    for (int t = 0; t < threads; ++t) {
        senders.emplace_back([&, t] {
            for (int i = 0; i < letters; ++i) {
                (*this)[0].links.send(1, Port{0}, static_cast<std::uint64_t>(t), std::to_string(i));
            }
        });
    }
    const std::vector<std::string>& heard = (*this)[1].heard.letters;
    run([&] { return heard.size() == std::size_t{threads * letters}; });
    for (std::thread& sender : senders) {
        sender.join();
    }
    std::array<int, threads> next{};
    for (const std::string& letter : heard) {
        const auto sender = static_cast<std::size_t>(letter[0] - '0');
        ASSERT_EQ(letter, std::to_string(sender) + ": " + std::to_string(next[sender]++));
    }
    EXPECT_FALSE((*this)[0].links.has_work());
}

TEST_F(LinksTest, HaveWorkUntilTheLetterOfAnotherThreadHasLeft) {
    Links& links = (*this)[0].links;
    EXPECT_FALSE(links.has_work());
    EXPECT_TRUE(links.is_quiet());
    links.send(1, Port{0}, 7, "x");
    EXPECT_TRUE(links.has_work()) << "so whoever sleeps sleeps short";
    EXPECT_FALSE(links.is_quiet());
    run([&] { return links.is_quiet(); });
    EXPECT_FALSE(links.has_work());
}

TEST(Links, TellWhatCannotBeSent) {
    Heard heard;
    RecordingGroup group({Port{0}});
    Links links(group, 0, 2, 1U << 18, heard);
    const Cards cards({encode(Card{"here", {links.post().card()}}), encode(Card{"there", {}})});
    links.post().open(cards, prove);
    EXPECT_FALSE(links.letter(1, Port{0}, 1, "x", Urgency::waits));
    links.send(1, Port{0}, 1, "x");
    EXPECT_TRUE(heard.all_broken.empty());
    (void)links.progress();
    ASSERT_EQ(heard.all_broken.size(), 1U);
    EXPECT_EQ(heard.all_broken[0].peer, 1);
    EXPECT_EQ(heard.all_broken[0].port, Port{0});
    EXPECT_NE(heard.all_broken[0].text.find("rank 1"), std::string::npos)
        << heard.all_broken[0].text;
}

}  // namespace
}  // namespace trefoil::test
