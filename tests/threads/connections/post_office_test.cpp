// SPDX-License-Identifier: BSD-3-Clause
// Letters through mailboxes: whole, once and in order, whatever the transport and strangers do.
#include "threads/connections/post_office.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "backend/faults/faulty_group.hpp"
#include "backend/ports/forwarding_group.hpp"
#include "tests/threads/connections/ranks.hpp"
#include "tests/threads/executor/recording_group.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

std::string long_text(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) {
        text += static_cast<char>('a' + i * 7 % 26);
    }
    return text;
}

void expect_letters(Ranks& ranks, Rank at, Rank from, Port own, int count) {
    ASSERT_EQ(ranks.letters(at).size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        const Ranks::Letter& letter = ranks.letters(at)[i];
        EXPECT_EQ(letter.from, from);
        EXPECT_EQ(letter.own, own);
        EXPECT_EQ(letter.tag, static_cast<std::uint64_t>(i));
        EXPECT_EQ(letter.text, long_text(i * 37));
    }
}

void write_letters(Ranks& ranks, Rank from, Rank to, Port port, int count) {
    for (int i = 0; i < count; ++i) {
        ranks[from].wiring().letter(to, port, static_cast<std::uint64_t>(i), long_text(i * 37));
    }
}

TEST(PostOffice, BringsLettersOfAnyLengthInOrder) {
    Ranks ranks(2);
    write_letters(ranks, 0, 1, Port{0}, 100);  // up to four records each
    ranks.settle({0, 1});
    expect_letters(ranks, 1, 0, Port{1}, 100);
    EXPECT_GT(ranks[0].post().statistics().records, 100U);
    EXPECT_EQ(ranks[1].post().statistics().answers, ranks[0].post().statistics().records);
}

TEST(PostOffice, WritesToItself) {
    Ranks ranks(1);
    write_letters(ranks, 0, 0, Port{1}, 10);
    ranks.settle({0});
    expect_letters(ranks, 0, 0, Port{0}, 10);
}

TEST(PostOffice, GivesBackWhatItSendsFrom) {
    Ranks ranks(2);
    write_letters(ranks, 0, 1, Port{0}, 20);
    ranks.settle({0, 1});
    EXPECT_EQ(ranks[0].arena().bytes_used(), LandingArena::aligned(MailboxLayout::answer_bytes));
    EXPECT_EQ(ranks[1].arena().bytes_used(), LandingArena::aligned(MailboxLayout::answer_bytes));
}

TEST(PostOffice, APeerThatNeverLooksHoldsUpNobodyElse) {
    Ranks ranks(3);
    write_letters(ranks, 0, 1, Port{0}, 100);
    write_letters(ranks, 0, 2, Port{0}, 100);
    write_letters(ranks, 2, 1, Port{1}, 100);
    ranks.run({0, 2}, [&] { return ranks.letters(2).size() == 100; });
    ranks.run({0, 2}, 1000);
    expect_letters(ranks, 2, 0, Port{1}, 100);
    EXPECT_TRUE(ranks.letters(1).empty());
    EXPECT_EQ(ranks[2].post().statistics().records, 1U) << "the transport holds a single record";
    EXPECT_EQ(ranks[0].post().unanswered().size(), 1U);
    EXPECT_NE(ranks[0].post().unanswered()[0].find("direction +0 of rank 0"), std::string::npos);
    EXPECT_NE(ranks[0].post().unanswered()[0].find("direction -0 of rank 1 (host here"),
              std::string::npos);
    ranks.settle({0, 1, 2});
    EXPECT_EQ(ranks.letters(1).size(), 200U);
}

TEST(PostOffice, CostsNothingWhenNothingIsSaid) {
    Ranks ranks(2);
    write_letters(ranks, 0, 1, Port{0}, 1);
    ranks.settle({0, 1});
    EXPECT_FALSE(ranks[0].post().progress());
    EXPECT_FALSE(ranks[1].post().progress());
}

TEST(PostOffice, TakesARecordOnceThatArrivesTwice) {
    const MakeStationGroups inner = groups_of("memory");
    Ranks ranks(2, [&](Rank rank, const std::vector<std::vector<Port>>& ports) {
        return with_faults(inner(rank, ports), parse_faults("5:twice=0.5,delay=100,again=2"), rank);
    });
    write_letters(ranks, 0, 1, Port{0}, 60);
    write_letters(ranks, 1, 0, Port{1}, 60);
    ranks.settle({0, 1});
    expect_letters(ranks, 1, 0, Port{1}, 60);
    expect_letters(ranks, 0, 1, Port{0}, 60);
    EXPECT_GT(ranks[0].post().statistics().repeated, 0U);
}

/// As some libraries below are.
class LosingGroup : public ForwardingGroup {
  public:
    explicit LosingGroup(std::unique_ptr<PortGroup> inner) : ForwardingGroup(std::move(inner)) {
        traits_.may_lose_puts = true;
    }
};

/// What is repeated when nothing moves.
void settle_with_losses(const std::string& faults) {
    const MakeStationGroups inner = groups_of("memory");
    Ranks ranks(2, [&](Rank rank, const std::vector<std::vector<Port>>& ports) {
        auto groups = with_faults(inner(rank, ports), parse_faults(faults), rank);
        for (auto& group : groups) {
            group = std::make_unique<LosingGroup>(std::move(group));
        }
        return groups;
    });
    write_letters(ranks, 0, 1, Port{0}, 60);
    write_letters(ranks, 1, 0, Port{1}, 60);
    int rounds = 0;
    ranks.run({0, 1}, [&] {
        if (++rounds % 20 == 0) {
            ranks[0].post().repeat_unanswered();
            ranks[1].post().repeat_unanswered();
        }
        return ranks.letters(0).size() == 60 && ranks.letters(1).size() == 60;
    });
    expect_letters(ranks, 1, 0, Port{1}, 60);
    expect_letters(ranks, 0, 1, Port{0}, 60);
    // Answers were lost too, so some records came that had been taken; how many depends on the
    // machine.
    EXPECT_GT(ranks[0].post().statistics().repeated, 0U);
    EXPECT_GT(ranks[1].post().statistics().repeated, 0U);
}

TEST(PostOffice, RepeatsRecordsAndAnswersThatGetLost) {
    settle_with_losses("3:drop=0.2");
    settle_with_losses("4:drop=0.2,twice=0.2,delay=50");
}

// Nobody answers a record that fails its check, so it is put again like one that got lost.
TEST(PostOffice, RepeatsRecordsAndAnswersThatAreDamaged) {
    settle_with_losses("5:flip=0.2");
    settle_with_losses("6:flip=0.2,drop=0.1,delay=50");
}

// A transport that loses nothing is not asked again: what is damaged there stays unanswered, which
// is told by who waits for it.
TEST(PostOffice, ADamagedRecordIsRefusedAndToldWhereNothingGetsLost) {
    Ranks ranks(2, [](Rank rank, const std::vector<std::vector<Port>>& ports) {
        auto groups = groups_of("memory")(rank, ports);
        return rank == 0 ? with_faults(std::move(groups), parse_faults("5:flip=1"), rank)
                         : std::move(groups);
    });
    write_letters(ranks, 0, 1, Port{0}, 1);
    ranks.run({0, 1}, 50);
    ranks[0].post().repeat_unanswered();
    ranks.run({0, 1}, 50);
    EXPECT_TRUE(ranks.letters(1).empty());
    EXPECT_EQ(ranks[1].post().statistics().refused, 1U);
    ASSERT_EQ(ranks[0].post().unanswered().size(), 1U);
    EXPECT_NE(ranks[0].post().unanswered()[0].find("direction +0 of rank 0"), std::string::npos);
}

// An urgent letter goes past a record that the peer has not answered; if it gets lost, the peer
// hears it behind that one.
TEST(PostOffice, AnUrgentLetterThatGetsLostIsHeardAllTheSame) {
    struct Forgetful final : LosingGroup {
        Forgetful(std::unique_ptr<PortGroup> group, const bool& forgets)
            : LosingGroup(std::move(group)), forgets_(forgets) {}
        PutResult put(const Put& put) override {
            return forgets_ ? PutResult::done : LosingGroup::put(put);
        }
        const bool& forgets_;
    };
    for (const bool gets_lost : {false, true}) {
        bool forgets = false;
        Ranks ranks(2, [&](Rank rank, const std::vector<std::vector<Port>>& ports) {
            auto groups = groups_of("memory")(rank, ports);
            for (auto& group : groups) {
                group = std::make_unique<Forgetful>(std::move(group), forgets);
            }
            return groups;
        });
        ranks[0].wiring().letter(1, Port{0}, 1, "before");
        ranks.run({0}, 5);
        forgets = gets_lost;
        ranks[0].wiring().letter(1, Port{0}, 2, "at once", true);
        ranks.run({0}, 5);
        forgets = false;
        ranks.settle({0, 1});
        std::vector<std::string> texts;
        for (const Ranks::Letter& letter : ranks.letters(1)) {
            texts.push_back(letter.text);
        }
        const auto urgent = std::ranges::count(texts, "at once");
        EXPECT_EQ(urgent, gets_lost ? 1 : 2);
        EXPECT_EQ(std::ranges::count(texts, "before"), 1);
    }
}

// A transport tells it late that a put has failed; what was put arrives nevertheless, or not.
TEST(PostOffice, PutsAgainWhatHasFailedButNotForEver) {
    Ranks ranks(2, [](Rank rank, const std::vector<std::vector<Port>>& ports) {
        if (rank == 1) {
            return groups_of("memory")(rank, ports);
        }
        std::vector<std::unique_ptr<PortGroup>> groups;
        groups.push_back(std::make_unique<RecordingGroup>(ports[0]));
        return groups;
    });
    PostOffice& post = ranks[0].post();
    write_letters(ranks, 0, 1, Port{0}, 1);
    const std::uint64_t record = ConnectionCookie::of_record(0).bits();
    for (int failures = 1; failures <= 3; ++failures) {
        ranks.run({0}, 2);
        EXPECT_TRUE(post.failed(record, "the pipe is broken"));
        EXPECT_FALSE(post.has_broken());
        EXPECT_FALSE(post.is_quiet()) << "it is tried again";
    }
    ranks.run({0}, 2);
    EXPECT_EQ(post.statistics().records, 4U);
    EXPECT_TRUE(post.failed(record, "the pipe is broken"));
    const auto broken = post.take_broken();
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_NE(broken[0].text.find("the pipe is broken"), std::string::npos);
    EXPECT_TRUE(post.is_quiet());
}

/// Has a rank's card, as a stranger might, and not the secret.
class Stranger {
  public:
    Stranger(const Cards& cards, Rank target)
        : group_(std::move(groups_of("memory")(0, {{Port{0}}})[0])) {
        const Cards::End end = cards.end_of(target, Port{1});
        mailbox_ = group_->import_memory(end.mailbox);
        peer_ = group_->connect(Port{0}, end.address);
        source_ = group_->allocate(4096);
    }
    void put(std::size_t offset, std::size_t bytes, const Signal& signal) {
        put(offset, bytes, signal.encode());
    }
    void put(std::size_t offset, std::size_t bytes, std::uint64_t notification) {
        ASSERT_EQ(group_->put({.port = Port{0},
                               .peer = peer_,
                               .source = source_.data,
                               .descriptor = source_.descriptor,
                               .target = mailbox_,
                               .offset = offset,
                               .bytes = bytes,
                               .notification = notification,
                               .cookie = 1}),
                  PutResult::done);
    }
    std::byte* source() { return source_.data; }

  private:
    std::unique_ptr<PortGroup> group_;
    RemoteMemory mailbox_;
    Peer peer_;
    LocalMemory source_;
};

TEST(PostOffice, RefusesAndCountsStrangers) {
    Ranks ranks(2);
    Stranger stranger(ranks.cards(), 1);
    const MailboxLayout layout(2, 2);
    const std::uint32_t place = layout.place_of(0, 1);  // rank 0's at port -0 of rank 1
    const Proof guess{12345, 67890};
    // A record with a guessed proof, one with the right proof in its signal alone, an answer to
    // nothing, and a place that is nobody's.
    const std::size_t bytes = write_record(stranger.source(), 1, "let me in", guess);
    stranger.put(layout.record_at(place), bytes, {Signal::Kind::record, place, guess.signal});
    ranks.run({1}, 10);
    EXPECT_EQ(ranks[1].post().statistics().refused, 1U);
    write_answer(stranger.source(), 1, false, guess);
    stranger.put(layout.answer_at(place), sizeof(Answer),
                 {Signal::Kind::answer, place, guess.signal});
    stranger.put(0, 0, Signal{Signal::Kind::record, Signal::place_limit - 1, 0});
    ranks.run({1}, 10);
    EXPECT_EQ(ranks[1].post().statistics().refused, 3U);
    EXPECT_EQ(ranks[1].post().connections(), 0U) << "a stranger made the rank connect";
    // The true one is heard all the same, also when its answers are forged.
    write_letters(ranks, 0, 1, Port{0}, 10);
    ranks.settle({0, 1});
    expect_letters(ranks, 1, 0, Port{1}, 10);
    const std::uint64_t before = ranks[1].post().statistics().refused;
    const Connection& connection = *ranks[1].post().find(0, Port{1});
    write_record(stranger.source(), connection.taken + 1, "let me in",
                 {connection.proof_in.signal, connection.proof_in.bytes + 1});
    stranger.put(layout.record_at(place), bytes,
                 {Signal::Kind::record, place, connection.proof_in.signal});
    ranks.run({1}, 10);
    EXPECT_EQ(ranks[1].post().statistics().refused, before + 1);
    expect_letters(ranks, 1, 0, Port{1}, 10);
}

TEST(PostOffice, LeavesSignalsOfOthersAlone) {
    Ranks ranks(2);
    PostOffice& post = ranks[0].post();
    EXPECT_FALSE(post.take(Signal{Signal::Kind::first_free, 0, 0}.encode()));
    EXPECT_FALSE(post.take(0));
    EXPECT_FALSE(post.take((1U << 13) - 1)) << "the control messages of channels";
    EXPECT_FALSE(post.sent(0));
    EXPECT_FALSE(post.sent(std::uint64_t{1} << 61 | 5)) << "the cookies of the executor";
    EXPECT_FALSE(post.failed(ConnectionCookie::of_record(7).bits(), "x")) << "no such connection";
}

TEST(PostOffice, TellsWhichConnectionIsBroken) {
    Ranks ranks(2, [](Rank rank, const std::vector<std::vector<Port>>& ports) {
        if (rank == 1) {
            return groups_of("memory")(rank, ports);
        }
        std::vector<std::unique_ptr<PortGroup>> groups;
        groups.push_back(std::make_unique<SilentGroup>(ports[0]));
        return groups;
    });
    write_letters(ranks, 0, 1, Port{0}, 3);
    ranks.run({0}, 3);
    const auto broken = ranks[0].post().take_broken();
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken[0].peer, 1);
    EXPECT_EQ(broken[0].port, Port{0});
    EXPECT_EQ(broken[0].status, Status::peer_lost);
    EXPECT_EQ(broken[0].text,
              "cannot connect direction +0 of rank 0 (host here, NIC a double) to direction -0 of "
              "rank 1 (host here, NIC shared memory): the cable is cut");
    EXPECT_EQ(broken[0].why, "the cable is cut");
    EXPECT_TRUE(ranks[0].post().is_quiet()) << "nothing more is tried";
    EXPECT_TRUE(ranks[0].post().take_broken().empty()) << "told once";
    try {
        ranks[0].wiring().want({1, 1, Port{0}}, 64, 4);
        FAIL() << "it has ended";
    } catch (const Error& error) {
        EXPECT_EQ(error.what(), broken[0].text) << "the reason, not only that it has ended";
        EXPECT_EQ(error.status(), Status::peer_lost);
    }
}

// As where a transport connects at the first put only: the peer has done nothing wrong.
TEST(PostOffice, APutThatFailsForLackOfADescriptorIsNoFaultOfThePeer) {
    Ranks ranks(2, [](Rank, const std::vector<std::vector<Port>>& ports) {
        std::vector<std::unique_ptr<PortGroup>> groups;
        groups.push_back(std::make_unique<SilentGroup>(ports[0]));
        return groups;
    });
    write_letters(ranks, 0, 1, Port{0}, 1);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    ranks.run({0}, 3);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    const auto broken = ranks[0].post().take_broken();
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken[0].status, Status::system_error);
}

// A rank that cannot map a peer's memory must say so, and may have no other way than this one.
TEST(PostOffice, WhoCannotFollowAPeersWordsCanStillTellIt) {
    struct Poor final : ForwardingGroup {
        Poor(std::unique_ptr<PortGroup> group, const bool& lacks)
            : ForwardingGroup(std::move(group)), lacks_(lacks) {}
        RemoteMemory import_memory(std::string_view description) override {
            if (lacks_) {
                throw Error(Status::system_error, "no descriptor is left");
            }
            return ForwardingGroup::import_memory(description);
        }
        const bool& lacks_;
    };
    bool lacks = false;
    Ranks ranks(2, [&](Rank rank, const std::vector<std::vector<Port>>& ports) {
        auto groups = groups_of("memory")(rank, ports);
        if (rank == 1) {
            groups[0] = std::make_unique<Poor>(std::move(groups[0]), lacks);
        }
        return groups;
    });
    write_letters(ranks, 0, 1, Port{0}, 1);
    write_letters(ranks, 1, 0, Port{1}, 1);
    ranks.run({0, 1}, 10);
    lacks = true;
    (void)ranks[0].wiring().want({1, 1, Port{0}}, 64, 4);  // tells where its memory is
    ranks.run({0, 1}, 10);
    const auto broken = ranks[1].post().take_broken();
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken[0].why, "no descriptor is left");
    EXPECT_THROW((void)ranks[1].wiring().want({0, 1, Port{1}}, 64, 4), Error);
    const std::size_t before = ranks.letters(0).size();
    ranks[1].wiring().letter(0, Port{1}, 1, "this rank has failed");
    ranks.run({0, 1}, 10);
    EXPECT_EQ(ranks.letters(0).size(), before + 1);
}

TEST(PostOffice, NamesBothEndsOfAConnectionThatCannotBeMade) {
    Ranks ranks(2);
    try {
        ranks[0].post().connection(1, Port{5});
        FAIL() << "no such port";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("another port group"), std::string::npos);
    }
    EXPECT_EQ(ranks[0].post().connections(), 0U);
}

TEST(PostOffice, SaysNothingToPeersThatAreGone) {
    Ranks ranks(2);
    write_letters(ranks, 0, 1, Port{0}, 10);
    ranks.run({0}, 10);
    EXPECT_FALSE(ranks[0].post().is_quiet());
    ranks[0].wiring().lose(1);
    ranks.run({0}, 10);
    EXPECT_TRUE(ranks[0].post().is_quiet());
    EXPECT_TRUE(ranks[0].post().unanswered().empty());
    ranks[0].wiring().letter(1, Port{0}, 1, "too late");
    EXPECT_TRUE(ranks[0].post().is_quiet());
}

}  // namespace
}  // namespace trefoil::test
