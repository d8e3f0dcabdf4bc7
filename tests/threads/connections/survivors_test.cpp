// SPDX-License-Identifier: BSD-3-Clause
// Who is left: for ranks that die at any moment, with messages that are late, lost with the dead,
// or overtake each other.
#include "threads/connections/survivors.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "topo/error.hpp"

namespace trefoil::test {
namespace {

/// Ranks in a world without time: whatever can happen next is drawn.
class Simulation {
  public:
    Simulation(std::size_t ranks, unsigned seed) : random_(seed) {
        for (std::size_t i = 0; i < ranks; ++i) {
            const auto rank = static_cast<Rank>(2 * i + 1);
            members_.push_back(rank);
            parts_[rank] =
                std::make_unique<Survivors>([this, rank](Rank to, std::string_view text) {
                    under_way_.push_back({rank, to, std::string(text)});
                });
        }
    }

    Survivors& operator[](Rank rank) { return *parts_[rank]; }
    const std::vector<Rank>& members() const { return members_; }
    const std::set<Rank>& dead() const { return dead_; }
    bool lives(Rank rank) const { return !dead_.contains(rank); }

    void begin(Rank rank) {
        const auto place = static_cast<std::size_t>(rank / 2);
        parts_[rank]->begin(members_, place, "word " + std::to_string(rank));
    }
    /// Some of what it has sent is lost with it: all from one message on, for each receiver.
    void kill(Rank rank) {
        dead_.insert(rank);
        std::map<Rank, bool> cut;
        std::erase_if(under_way_, [&](const Message& message) {
            bool& is_cut = cut[message.to];
            is_cut |= message.from == rank && random_() % 3 == 0;
            return message.to == rank || (message.from == rank && is_cut);
        });
    }
    /// It stops before its words to all but one have left.
    void stop_after_words_to(Rank one, Rank rank) {
        dead_.insert(rank);
        std::erase_if(under_way_, [&](const Message& message) {
            return message.from == rank && message.to != one;
        });
    }
    void find_dead(Rank by, Rank rank) { parts_[by]->lose(rank); }
    /// Messages between two ranks keep their order, as letters do. False: there is none.
    bool deliver() {
        if (under_way_.empty()) {
            return false;
        }
        auto chosen = under_way_.begin() + static_cast<long>(random_() % under_way_.size());
        chosen = std::find_if(under_way_.begin(), under_way_.end(), [&](const Message& message) {
            return message.from == chosen->from && message.to == chosen->to;
        });
        const Message message = *chosen;
        under_way_.erase(chosen);
        if (lives(message.to)) {
            parts_[message.to]->take(message.from, message.text);
        }
        return true;
    }
    unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  private:
    struct Message {
        Rank from, to;
        std::string text;
    };
    std::minstd_rand random_;
    std::vector<Rank> members_;
    std::map<Rank, std::unique_ptr<Survivors>> parts_;
    std::deque<Message> under_way_;
    std::set<Rank> dead_;
};

void expect_agreement(Simulation& ranks) {
    std::optional<std::vector<Rank>> decided;
    for (const Rank rank : ranks.members()) {
        if (!ranks.lives(rank)) {
            continue;
        }
        const Survivors& part = ranks[rank];
        ASSERT_TRUE(part.has_decided()) << "rank " << rank << " misses " << part.missing().size();
        ASSERT_FALSE(part.is_left_out());
        const std::vector<Rank> mine = part.survivors();
        ASSERT_EQ(decided.value_or(mine), mine) << "rank " << rank;
        decided = mine;
        const std::vector<std::string> words = part.words();
        for (std::size_t i = 0; i < mine.size(); ++i) {
            ASSERT_EQ(words[i], "word " + std::to_string(mine[i]));
        }
        ASSERT_NE(std::find(mine.begin(), mine.end(), rank), mine.end());
    }
}

/// Ranks begin at random times; `deaths` of them die, some before and some meanwhile; who lives
/// finds that out at any time later.
void shrink(std::size_t count, std::size_t deaths, unsigned seed) {
    SCOPED_TRACE(testing::Message() << count << " ranks, " << deaths << " die, seed " << seed);
    Simulation ranks(count, seed);
    std::vector<Rank> waiting = ranks.members(), victims = ranks.members();
    std::vector<std::pair<Rank, Rank>> to_find;  // who, whose death
    const auto take = [&](auto& list) {
        std::swap(list[ranks.draw(static_cast<unsigned>(list.size()))], list.back());
        const auto one = list.back();
        list.pop_back();
        return one;
    };
    while (true) {
        const unsigned what = ranks.draw(8);
        if (what == 0 && deaths > 0) {
            --deaths;
            const Rank victim = take(victims);
            ranks.kill(victim);
            for (const Rank rank : ranks.members()) {
                to_find.emplace_back(rank, victim);
            }
        } else if (what == 1 && !waiting.empty()) {
            const Rank rank = take(waiting);
            if (ranks.lives(rank)) {
                ranks.begin(rank);
            }
        } else if (what == 2 && !to_find.empty()) {
            const auto [by, victim] = take(to_find);
            if (std::find(waiting.begin(), waiting.end(), by) != waiting.end()) {
                to_find.emplace_back(by, victim);
            } else if (ranks.lives(by)) {
                ranks.find_dead(by, victim);
            }
        } else if (!ranks.deliver() && waiting.empty() && to_find.empty() && deaths == 0) {
            break;
        }
    }
    expect_agreement(ranks);
}

TEST(Survivors, AllAliveAgreeOnAll) {
    for (std::size_t count = 1; count <= 12; ++count) {
        for (unsigned seed = 0; seed < 20; ++seed) {
            shrink(count, 0, seed);
        }
    }
}

TEST(Survivors, AgreeWhoeverDiesAtWhateverMoment) {
    for (const std::size_t count : {2, 3, 4, 5, 8, 9}) {
        for (std::size_t deaths = 1; deaths < count; ++deaths) {
            for (unsigned seed = 0; seed < 300; ++seed) {
                shrink(count, deaths, seed);
                if (testing::Test::HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

void deliver_all(Simulation& ranks) {
    while (ranks.deliver()) {
    }
}

TEST(Survivors, TheDeadAreNotAmongThem) {
    Simulation ranks(4, 1);
    ranks.kill(3);
    for (const Rank rank : {1, 5, 7}) {
        ranks.begin(rank);
    }
    deliver_all(ranks);
    EXPECT_EQ(ranks[1].missing(), std::vector<Rank>{3});
    EXPECT_FALSE(ranks[1].has_decided());
    ranks.find_dead(5, 3);  // the others hear it
    deliver_all(ranks);
    expect_agreement(ranks);
    EXPECT_EQ(ranks[7].survivors(), (std::vector<Rank>{1, 5, 7}));
}

// Rank 1 has all proposals and lacks the confirmations of all; of these only rank 7 has stopped.
// The others wait for its proposal: they are to give it up before rank 1 gives up them.
TEST(Survivors, WhoWaitsForConfirmationsWaitsLongerThanWhoWaitsForAProposal) {
    Simulation ranks(4, 1);
    ranks.begin(7);
    ranks.stop_after_words_to(1, 7);
    for (const Rank rank : {1, 3, 5}) {
        ranks.begin(rank);
    }
    deliver_all(ranks);
    EXPECT_EQ(ranks[1].missing(), (std::vector<Rank>{3, 5, 7}));
    EXPECT_EQ(ranks[3].missing(), std::vector<Rank>{7});
    EXPECT_EQ(ranks[5].missing(), std::vector<Rank>{7});
    EXPECT_GT(ranks[1].patience(), ranks[3].patience());
    ranks.find_dead(3, 7);
    deliver_all(ranks);
    expect_agreement(ranks);
    EXPECT_EQ(ranks[1].survivors(), (std::vector<Rank>{1, 3, 5}));
}

TEST(Survivors, WhoIsTakenForDeadIsToldThatItIsLeftOut) {
    Simulation ranks(3, 1);
    ranks.begin(1);
    ranks.begin(3);
    ranks.find_dead(1, 5);
    deliver_all(ranks);
    EXPECT_EQ(ranks[1].survivors(), (std::vector<Rank>{1, 3}));
    EXPECT_EQ(ranks[3].survivors(), (std::vector<Rank>{1, 3}));
    ranks.begin(5);
    deliver_all(ranks);
    EXPECT_TRUE(ranks[5].is_left_out());
    EXPECT_FALSE(ranks[5].has_decided());
    EXPECT_NE(ranks[5].left_out_by(), 5);
}

// As long as others have not come, nobody has decided, and nobody else would tell it.
TEST(Survivors, WhoIsTakenForDeadIsToldSoBeforeAnythingIsDecided) {
    Simulation ranks(3, 1);
    ranks.begin(1);
    ranks.find_dead(1, 5);
    deliver_all(ranks);
    ranks.begin(5);
    EXPECT_FALSE(ranks[5].is_left_out()) << "what it has heard so far has it in it";
    deliver_all(ranks);
    EXPECT_FALSE(ranks[1].has_decided());
    ASSERT_TRUE(ranks[5].is_left_out());
    EXPECT_EQ(ranks[5].left_out_by(), 1);
}

TEST(Survivors, ASecondBeginGoesOn) {
    Simulation ranks(2, 1);
    ranks.begin(1);
    deliver_all(ranks);
    ranks.begin(1);
    ranks.begin(3);
    deliver_all(ranks);
    expect_agreement(ranks);
    ranks.find_dead(1, 3);  // after the decision it is as if it died later
    EXPECT_EQ(ranks[1].survivors(), (std::vector<Rank>{1, 3}));
}

TEST(Survivors, WhatIsNoTextIsRefused) {
    Survivors one([](Rank, std::string_view) {});
    one.begin({1, 3}, 0, "");
    for (const char* const wrong : {"", "P", "Pxxxxxxxxxxxx", "Q"}) {
        EXPECT_THROW(one.take(3, wrong), Error) << wrong;
    }
    EXPECT_THROW(one.take(4, "P"), Error) << "it is no member";
    EXPECT_EQ(one.missing(), std::vector<Rank>{3});
}

}  // namespace
}  // namespace trefoil::test
