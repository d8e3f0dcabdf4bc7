// SPDX-License-Identifier: BSD-3-Clause
// How connections are made and end, and what is put through them.
#include "threads/connections/post_office.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "topo/blob.hpp"

namespace trefoil {

namespace {

/// One after the other, without an answer of the peer. Where two ranks connect to each other at the
/// same time, libfabric may lose what was put through the connection that it gives up. What comes
/// twice is taken once.
constexpr std::uint32_t most_failed_puts = 3;

/// Why this process can open no more descriptors, or 0.
int no_descriptor_left() {
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int error = file < 0 ? errno : 0;
    if (file >= 0) {
        close(file);
    }
    return error == EMFILE || error == ENFILE ? error : 0;
}

/// Transports wait in silence where a connection lacks a descriptor, and then tell something else.
void require_descriptor() {
    if (const int error = no_descriptor_left()) {
        throw Error(Status::system_error,
                    std::string("no room for connections: ") + std::strerror(error) +
                        "; raise the limit of open files (ulimit -n), or close some");
    }
}

}  // namespace

PostOffice::PostOffice(PortGroup& group, LandingArena& arena, Rank rank, Rank ranks)
    : group_(group),
      arena_(arena),
      rank_(rank),
      layout_(ranks, group.ports().size()),
      mailbox_(group.allocate(layout_.bytes())) {}

std::size_t PostOffice::index_of(Port own) const {
    const std::vector<Port>& ports = group_.ports();
    const auto found = std::find(ports.begin(), ports.end(), own);
    if (found == ports.end()) {
        throw Error(Status::internal, "port " + to_string(own) + " belongs to another port group");
    }
    return static_cast<std::size_t>(found - ports.begin());
}

Proof PostOffice::proof(Rank sender, Rank receiver, Port receivers_port) const {
    BlobWriter way;
    way.text("connection");
    way.number(sender);
    way.number(receiver);
    way.number(static_cast<std::int32_t>(receivers_port.index));
    const std::uint64_t proof = prove_(way.bytes());
    return {static_cast<std::uint32_t>(proof), static_cast<std::uint32_t>(proof >> 32)};
}

Connection* PostOffice::find(Rank peer, Port own) {
    const auto found = by_end_.find({peer, own.index});
    return found == by_end_.end() ? nullptr : connections_[found->second].get();
}

Connection& PostOffice::connection(Rank peer, Port own) {
    if (Connection* const there = find(peer, own)) {
        return *there;
    }
    const std::size_t index = index_of(own);
    auto made = std::make_unique<Connection>();
    made->number = static_cast<std::uint32_t>(connections_.size());
    made->peer = peer;
    made->port = own;
    made->place_here = layout_.place_of(peer, index);
    made->proof_out = proof(rank_, peer, own.opposite());
    made->proof_in = proof(peer, rank_, own);
    try {
        require_descriptor();
        const Cards::End end = cards_->end_of(peer, own.opposite());
        const MailboxLayout there(cards_->ranks(), end.ports);
        made->place_there = there.place_of(rank_, end.index);
        made->answer_there = there.answer_at(made->place_there);
        made->record_there = there.record_at(made->place_there);
        made->urgent_there = there.urgent_at(made->place_there);
        made->trial_there = there.trial_at();
        made->mailbox = group_.import_memory(end.mailbox);
        made->endpoint = group_.connect(own, end.address);
    } catch (const Error& error) {
        throw CannotConnect(broken(peer, own, error.status(), error.what()));
    }
    made->answer = arena_.take(MailboxLayout::answer_bytes);
    to_put_.reserve(connections_.size() + 1);  // so that list() needs no memory
    putting_.reserve(connections_.size() + 1);
    connections_.reserve(connections_.size() + 1);
    by_end_[{peer, own.index}] = made->number;
    connections_.push_back(std::move(made));
    return *connections_.back();
}

void PostOffice::say(Connection& to, std::uint8_t kind, std::string_view body) {
    if (!to.closed) {
        append_entry(to.outgoing, kind, body);
        list(to);
    }
}

bool PostOffice::say_urgently(Connection& to, std::uint8_t kind, std::string_view body) {
    std::string entry;
    append_entry(entry, kind, body);
    if (to.closed || to.urgent_used || entry.size() > urgent_payload) {
        return false;
    }
    to.urgent_source = arena_.take(MailboxLayout::urgent_bytes);
    to.urgent = std::move(entry);
    to.urgent_used = to.urgent_to_put = true;
    to.urgent_in_doubt = group_.traits().may_lose_puts;
    list(to);
    return true;
}

void PostOffice::try_many_bytes(Connection& to) {
    if (to.trial == Connection::Trial::none) {
        to.trial = Connection::Trial::to_put;
        list(to);
    }
}

void PostOffice::list(Connection& connection) {
    if (!connection.listed && !connection.closed) {
        connection.listed = true;
        to_put_.push_back(connection.number);
    }
}

bool PostOffice::put_all() {
    bool moved = false;
    std::swap(to_put_, putting_);
    for (const std::uint32_t number : putting_) {
        Connection& connection = *connections_[number];
        connection.listed = false;
        if (!connection.closed) {
            moved |= put_answer(connection);
            moved |= put_record(connection);
            moved |= put_urgent(connection);
            moved |= put_trial(connection);
        }
    }
    putting_.clear();
    return moved;
}

bool PostOffice::put(Connection& connection, const MailboxPut& what, bool& due, bool& leaving) {
    const Signal signal{what.kind, connection.place_there, connection.proof_out.signal};
    const PutResult result = group_.put({.port = connection.port,
                                         .peer = connection.endpoint,
                                         .source = what.source,
                                         .descriptor = what.descriptor,
                                         .target = connection.mailbox,
                                         .offset = what.offset,
                                         .bytes = what.bytes,
                                         .notification = signal.encode(),
                                         .cookie = what.cookie.bits()});
    if (result == PutResult::again) {
        list(connection);
        return false;
    }
    due = false;
    leaving = result == PutResult::queued;
    if (result == PutResult::failed) {
        // A transport may connect at the first put only: then it is no fault of the peer's.
        const Status status = no_descriptor_left() != 0 ? Status::system_error : Status::peer_lost;
        break_off(connection, status, group_.error_text());
    }
    return true;
}

bool PostOffice::put_answer(Connection& connection) {
    if (!connection.answer_due || connection.answer_leaving) {
        return false;
    }
    write_answer(connection.answer.data, connection.taken, connection.trial_taken,
                 connection.proof_out);
    const bool moved =
        put(connection,
            from_arena(Signal::Kind::answer, connection.answer, connection.answer_there,
                       sizeof(Answer), ConnectionCookie::of_answer(connection.number)),
            connection.answer_due, connection.answer_leaving);
    statistics_.answers += moved ? 1 : 0;
    return moved;
}

/// The next piece of the stream, when the last one is done with. False: there is no memory for it.
bool PostOffice::fill_record(Connection& connection) {
    if (!connection.may_write_record() || connection.outgoing.empty()) {
        return true;
    }
    try {
        if (connection.record.data == nullptr) {
            connection.record = arena_.take(MailboxLayout::record_bytes);
        }
    } catch (const std::exception& error) {
        break_off(connection, Status::out_of_memory, error.what());
        return false;
    }
    const std::size_t bytes = std::min(connection.outgoing.size(), record_payload);
    connection.record_bytes =
        write_record(connection.record.data, ++connection.put,
                     std::string_view(connection.outgoing).substr(0, bytes), connection.proof_out);
    connection.outgoing.erase(0, bytes);
    if (connection.outgoing.empty()) {
        connection.outgoing = {};  // its memory, too
    }
    connection.record_to_put = true;
    return true;
}

bool PostOffice::put_record(Connection& connection) {
    if (connection.closed) {
        return false;
    }
    if (!fill_record(connection)) {
        return true;
    }
    if (!connection.record_to_put) {
        return false;
    }
    const bool moved =
        put(connection,
            from_arena(Signal::Kind::record, connection.record, connection.record_there,
                       connection.record_bytes, ConnectionCookie::of_record(connection.number)),
            connection.record_to_put, connection.record_leaving);
    if (moved) {
        connection.record_unanswered = true;
        ++statistics_.records;
        statistics_.record_bytes += connection.record_bytes;
    }
    return moved;
}

bool PostOffice::put_urgent(Connection& connection) {
    if (connection.closed || !connection.urgent_to_put) {
        return false;
    }
    const std::size_t bytes =
        write_record(connection.urgent_source.data, 1, connection.urgent, connection.proof_out);
    return put(connection,
               from_arena(Signal::Kind::urgent, connection.urgent_source, connection.urgent_there,
                          bytes, ConnectionCookie::of_urgent(connection.number)),
               connection.urgent_to_put, connection.urgent_leaving);
}

/// From where those of others land: it is registered, and nobody reads it.
bool PostOffice::put_trial(Connection& connection) {
    using Trial = Connection::Trial;
    if (connection.closed || !connection.may_put_trial()) {
        return false;
    }
    bool due = true, leaving = false;
    const bool moved = put(connection,
                           {Signal::Kind::trial, mailbox_.data + layout_.trial_at(),
                            mailbox_.descriptor, connection.trial_there, MailboxLayout::trial_bytes,
                            ConnectionCookie::of_trial(connection.number)},
                           due, leaving);
    if (moved) {
        connection.trial = leaving ? Trial::leaving : Trial::unanswered;
    }
    return moved;
}

bool PostOffice::sent(std::uint64_t bits) noexcept {
    const ConnectionCookie cookie(bits);
    if (!ConnectionCookie::is_one(bits) || cookie.connection() >= connections_.size()) {
        return false;
    }
    Connection& connection = *connections_[cookie.connection()];
    if (cookie.is_urgent()) {
        connection.urgent_leaving = false;
    } else if (cookie.is_answer()) {
        connection.answer_leaving = false;
    } else if (cookie.is_trial()) {
        if (connection.trial == Connection::Trial::leaving) {
            connection.trial = Connection::Trial::unanswered;
        }
    } else {
        connection.record_leaving = false;
        give_back_record(connection);
    }
    list(connection);
    return true;
}

bool PostOffice::failed(std::uint64_t bits, const std::string& text) noexcept {
    if (!sent(bits)) {
        return false;
    }
    const ConnectionCookie cookie(bits);
    Connection& connection = *connections_[cookie.connection()];
    if (connection.closed) {
        return true;
    }
    if (++connection.failed_puts > most_failed_puts) {
        break_off(connection, Status::peer_lost, text);
        return true;
    }
    if (cookie.is_urgent()) {
        connection.urgent_to_put = true;
    } else if (cookie.is_answer()) {
        connection.answer_due = true;
    } else if (cookie.is_trial()) {
        connection.trial = connection.trial == Connection::Trial::unanswered
                               ? Connection::Trial::to_put
                               : connection.trial;
    } else if (connection.record_unanswered) {
        connection.record_to_put = true;
        connection.record_unanswered = false;
    }
    list(connection);
    return true;
}

void PostOffice::repeat_unanswered() noexcept {
    constexpr std::uint32_t most_looks = 64;
    if (!group_.traits().may_lose_puts) {
        return;
    }
    for (const auto& connection : connections_) {
        const bool trial_lost = connection->trial == Connection::Trial::unanswered;
        const bool record_lost = connection->record_unanswered && !connection->record_leaving;
        if (connection->closed || !(trial_lost || record_lost) ||
            ++connection->looks < connection->repeat_after) {
            continue;
        }
        connection->looks = 0;
        connection->repeat_after = std::min(2 * connection->repeat_after, most_looks);
        if (trial_lost) {
            connection->trial = Connection::Trial::to_put;
        }
        if (record_lost) {
            connection->record_to_put = true;
            connection->record_unanswered = false;
        }
        list(*connection);
    }
}

void PostOffice::give_back_record(Connection& connection) noexcept {
    const bool done =
        connection.closed ? !connection.record_leaving : connection.may_write_record();
    if (done && connection.record.data != nullptr && connection.outgoing.empty()) {
        arena_.give_back(connection.record);
        connection.record = {};
    }
}

void PostOffice::close(Connection& connection) noexcept {
    connection.closed = true;
    connection.record_to_put = connection.urgent_to_put = connection.answer_due = false;
    connection.outgoing = {};
    connection.incoming = {};
    give_back_record(connection);
}

void PostOffice::lose(Rank peer) noexcept {
    const auto first = by_end_.lower_bound({peer, 0});
    for (auto at = first; at != by_end_.end() && at->first.first == peer; ++at) {
        close(*connections_[at->second]);
    }
}

BrokenConnection PostOffice::broken(Rank peer, Port own, Status status,
                                    const std::string& why) const {
    return {peer, own, status,
            "cannot connect " + cards_->route_text(rank_, own, peer) + ": " + why, why};
}

void PostOffice::break_off(Connection& connection, Status status, const std::string& why) noexcept {
    if (connection.closed) {
        return;
    }
    close(connection);
    note_broken(connection, status, why);
}

void PostOffice::go_deaf(Connection& connection, Status status, const std::string& why) noexcept {
    if (connection.closed) {
        return;
    }
    connection.deaf = true;
    connection.incoming = {};
    note_broken(connection, status, why);
}

void PostOffice::note_broken(Connection& connection, Status status,
                             const std::string& why) noexcept {
    try {
        connection.broken_why = why;
        connection.broken_as = status;
        broken_.push_back(broken(connection.peer, connection.port, status, why));
    } catch (const std::exception&) {  // no memory for words; the peer's silence tells
    }
}

bool PostOffice::is_quiet() const {
    return std::all_of(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return connection->is_quiet(); });
}

bool PostOffice::has_peers_left() const {
    return std::all_of(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return connection->closed; });
}

std::vector<std::string> PostOffice::unanswered() const {
    std::vector<std::string> texts;
    for (const auto& connection : connections_) {
        if (!connection->closed && (connection->record_unanswered || connection->record_to_put)) {
            texts.push_back(cards_->route_text(rank_, connection->port, connection->peer));
        }
    }
    return texts;
}

}  // namespace trefoil
