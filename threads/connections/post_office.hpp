// SPDX-License-Identifier: BSD-3-Clause
// Sends entries to the ports of other ranks, and takes theirs, while calls run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "threads/connections/cards.hpp"
#include "threads/connections/connection.hpp"
#include "threads/connections/landing_arena.hpp"
#include "threads/connections/mailbox.hpp"
#include "topo/error.hpp"

namespace trefoil {

/// What a rank can say only if it knows the job's secret: a keyed hash of a text.
using Prove = std::function<std::uint64_t(std::string_view)>;

/// A connection that cannot be made, or is broken.
struct BrokenConnection {
    Rank peer = 0;
    Port port;  ///< the own one
    Status status = Status::success;
    std::string text;  ///< names both ends, by their ranks in the job's first communicator
    std::string why;   ///< without the ends: other communicators have other ranks
};

/// What this rank lacks is no fault of the peer's.
inline Blame blame_of(const BrokenConnection& connection) {
    return connection.status == Status::peer_lost ? Blame(connection.peer, Evidence::unreachable)
                                                  : Blame();
}

class CannotConnect : public Error {
  public:
    explicit CannotConnect(const BrokenConnection& connection)
        : Error(connection.status, connection.text, blame_of(connection)),
          connection_(connection) {}
    const BrokenConnection& connection() const noexcept { return connection_; }

  private:
    BrokenConnection connection_;
};

/// The connections of one port group. A connection is made when something is first said to a peer
/// through a port, or when the peer says something. Not thread-safe: by the group's owner. Nothing
/// here waits: what cannot go on now goes on in a later progress().
class PostOffice {
  public:
    struct Statistics {
        std::uint64_t records = 0, record_bytes = 0, answers = 0;  ///< that have been put
        std::uint64_t refused = 0;   ///< of strangers: without the proof
        std::uint64_t repeated = 0;  ///< that have been taken before
    };

    /// Takes the mailbox from the group. Throws what the group throws.
    PostOffice(PortGroup& group, LandingArena& arena, Rank rank, Rank ranks);
    PostOffice(const PostOffice&) = delete;
    PostOffice& operator=(const PostOffice&) = delete;

    /// This group's part of the rank's card.
    GroupCard card() const { return card_of(group_, mailbox_); }
    /// All ranks have told their cards; `cards` outlives this. Nothing can be said before.
    void open(const Cards& cards, Prove prove) {
        cards_ = &cards;
        prove_ = std::move(prove);
    }
    /// Who hears each entry that comes. May say something, and throw Error, which breaks the
    /// connection.
    using Listener = std::function<void(Connection&, const StreamEntry&)>;
    void listen(Listener listener) { listener_ = std::move(listener); }

    /// Makes the connection unless it is there. Throws CannotConnect.
    Connection& connection(Rank peer, Port own);
    Connection& connection(std::uint32_t number) { return *connections_[number]; }
    /// Null: there is none yet.
    Connection* find(Rank peer, Port own);
    std::size_t connections() const { return connections_.size(); }

    /// Appends an entry to what the peer will hear. Throws bad_alloc, and then nothing is said.
    void say(Connection& to, std::uint8_t kind, std::string_view body);
    /// The same, past whatever the peer has not answered yet. False: there was an urgent word
    /// before, or it is too long; nothing is said. Where puts may get lost the peer hears it twice.
    bool say_urgently(Connection& to, std::uint8_t kind, std::string_view body);

    /// Many bytes that mean nothing, once for each connection: does the way carry them, too? The
    /// connection says how far it is.
    void try_many_bytes(Connection& to);

    /// Puts what can be put. True: something has moved. Costs next to nothing where there is
    /// nothing to say.
    bool progress() { return !to_put_.empty() && put_all(); }
    /// Whether progress() has something to try: whoever sleeps meanwhile sleeps short.
    bool has_to_put() const { return !to_put_.empty(); }
    /// A signal that has arrived. False: it is none of records and answers.
    bool take(std::uint64_t notification) noexcept;
    /// A put of this office has left, or has failed. False: it is none.
    bool sent(std::uint64_t cookie) noexcept;
    bool failed(std::uint64_t cookie, const std::string& text) noexcept;

    /// Now and then, while nothing moves: where puts may get lost, a record that is unanswered at a
    /// second look is put again, and then ever more seldom. What comes twice is taken once.
    void repeat_unanswered() noexcept;

    /// What there is to tell of a connection of this rank's.
    BrokenConnection broken(Rank peer, Port own, Status status, const std::string& why) const;
    /// The peer's process is gone, or leaves: nothing is said to it any more.
    void lose(Rank peer) noexcept;
    /// Nothing waits for its put or for its completion.
    bool is_quiet() const;
    /// All peers of its connections have said that they leave, or are lost: no more comes.
    bool has_peers_left() const;
    /// Since the last time.
    std::vector<BrokenConnection> take_broken() { return std::exchange(broken_, {}); }
    bool has_broken() const { return !broken_.empty(); }
    /// Those whose peer has not answered the last record, in words.
    std::vector<std::string> unanswered() const;

    const Statistics& statistics() const { return statistics_; }
    std::size_t mailbox_bytes() const { return layout_.bytes(); }
    Rank rank() const { return rank_; }
    const Cards& cards() const { return *cards_; }
    PortGroup& group() { return group_; }
    std::uint64_t prove(std::string_view text) const { return prove_(text); }

  private:
    std::size_t index_of(Port own) const;
    Proof proof(Rank sender, Rank receiver, Port receivers_port) const;
    void list(Connection& connection);
    bool put_all();
    /// What is put into the place that this rank has in the peer's mailbox.
    struct MailboxPut {
        Signal::Kind kind;
        const void* source;
        void* descriptor;
        std::size_t offset, bytes;
        ConnectionCookie cookie;
    };
    /// Whether it was handed over, or has failed; else it stays listed.
    bool put(Connection& connection, const MailboxPut& what, bool& due, bool& leaving);
    bool put_answer(Connection& connection);
    bool fill_record(Connection& connection);
    bool put_record(Connection& connection);
    bool put_urgent(Connection& connection);
    bool put_trial(Connection& connection);
    MailboxPut from_arena(Signal::Kind kind, const ArenaSlice& source, std::size_t offset,
                          std::size_t bytes, ConnectionCookie cookie) {
        return {kind, source.data, arena_.chunk(source.chunk).descriptor, offset, bytes, cookie};
    }
    /// Where a signal comes from.
    struct Origin {
        Rank peer = 0;
        Port own;
    };
    Origin origin_of(const Signal& signal) const;
    std::optional<RecordView> read(const Signal& signal, std::size_t offset, std::size_t longest,
                                   RecordCopy& copy);
    void take_urgent(const Signal& signal);
    void take_trial(const Signal& signal);
    void take_record(const Signal& signal);
    void take_answer(const Signal& signal);
    void hear(Connection& connection);
    bool is_refused(const Signal& signal, std::uint32_t proof);
    void give_back_record(Connection& connection) noexcept;
    void close(Connection& connection) noexcept;
    void break_off(Connection& connection, Status status, const std::string& why) noexcept;
    void go_deaf(Connection& connection, Status status, const std::string& why) noexcept;
    void note_broken(Connection& connection, Status status, const std::string& why) noexcept;

    PortGroup& group_;
    LandingArena& arena_;
    Rank rank_;
    MailboxLayout layout_;
    LocalMemory mailbox_;
    const Cards* cards_ = nullptr;
    Prove prove_;
    Listener listener_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::map<std::pair<Rank, int>, std::uint32_t> by_end_;  ///< by peer and own port
    std::vector<std::uint32_t> to_put_, putting_;           ///< connections that may have something
    std::vector<BrokenConnection> broken_;
    Statistics statistics_;
};

}  // namespace trefoil
