// SPDX-License-Identifier: BSD-3-Clause
// What comes to a post office: records, answers, and what strangers send.
#include <exception>
#include <utility>

#include "threads/connections/post_office.hpp"

namespace trefoil {

/// Where notifications carry a proof.
bool PostOffice::is_refused(const Signal& signal, std::uint32_t proof) {
    if (group_.traits().notification_bits == 64 && signal.proof != proof) {
        ++statistics_.refused;
        return true;
    }
    return false;
}

bool PostOffice::take(std::uint64_t notification) noexcept {
    if (!Signal::is_signal(notification)) {
        return false;
    }
    const Signal signal = Signal::decode(notification);
    if (signal.kind >= Signal::Kind::first_free) {
        return false;
    }
    if (signal.place >= layout_.places() || cards_ == nullptr) {
        ++statistics_.refused;
        return true;
    }
    try {
        if (signal.kind == Signal::Kind::record) {
            take_record(signal);
        } else if (signal.kind == Signal::Kind::urgent) {
            take_urgent(signal);
        } else if (signal.kind == Signal::Kind::trial) {
            take_trial(signal);
        } else {
            take_answer(signal);
        }
    } catch (const std::exception& error) {  // before there is a connection to break
        try {
            const auto* const known = dynamic_cast<const CannotConnect*>(&error);
            broken_.push_back(known != nullptr
                                  ? known->connection()
                                  : broken(layout_.rank_of(signal.place),
                                           group_.ports()[layout_.port_index_of(signal.place)],
                                           Status::system_error, error.what()));
        } catch (const std::exception&) {  // no memory for words; the peer's time-out tells
        }
    }
    return true;
}

PostOffice::Origin PostOffice::origin_of(const Signal& signal) const {
    return {layout_.rank_of(signal.place), group_.ports()[layout_.port_index_of(signal.place)]};
}

/// The record at `offset` of the mailbox; none, and counted: it does not prove to be of its peer. A
/// stranger cannot make this rank connect, since this comes first.
std::optional<RecordView> PostOffice::read(const Signal& signal, std::size_t offset,
                                           std::size_t longest, RecordCopy& copy) {
    const auto [peer, own] = origin_of(signal);
    const Connection* const known = find(peer, own);
    const Proof expected = known != nullptr ? known->proof_in : proof(peer, rank_, own);
    if (is_refused(signal, expected.signal)) {
        return {};
    }
    const auto record = read_record(mailbox_.data + offset, copy, expected, longest);
    statistics_.refused += record ? 0 : 1;
    return record;
}

void PostOffice::take_record(const Signal& signal) {
    RecordCopy copy;
    const auto record = read(signal, layout_.record_at(signal.place), record_payload, copy);
    if (!record) {
        return;
    }
    const auto [peer, own] = origin_of(signal);
    Connection& connection = this->connection(peer, own);
    if (connection.closed || connection.deaf) {
        return;
    }
    if (record->number != connection.taken + 1) {
        ++statistics_.repeated;
        if (record->number == connection.taken) {  // perhaps the answer got lost
            connection.answer_due = true;
            list(connection);
        }
        return;
    }
    ++connection.taken;
    connection.answer_due = true;
    list(connection);
    try {
        connection.incoming.append(record->payload);
        hear(connection);
    } catch (const Error& error) {
        go_deaf(connection, error.status(), error.what());
    } catch (const std::exception& error) {
        go_deaf(connection, Status::out_of_memory, error.what());
    }
}

void PostOffice::take_urgent(const Signal& signal) {
    RecordCopy copy;
    const auto record = read(signal, layout_.urgent_at(signal.place), urgent_payload, copy);
    if (!record) {
        return;
    }
    const auto [peer, own] = origin_of(signal);
    Connection& connection = this->connection(peer, own);
    if (connection.urgent_taken) {
        ++statistics_.repeated;
        return;
    }
    connection.urgent_taken = true;
    const auto entry = first_entry(record->payload);
    if (entry && listener_) {
        listener_(connection, *entry);
    }
}

// Its bytes prove nothing, as others write there, too. Where the notification does not prove it
// either, a stranger can spare this rank the trial, and no more.
void PostOffice::take_trial(const Signal& signal) {
    const auto [peer, own] = origin_of(signal);
    Connection* const connection = find(peer, own);
    if (connection == nullptr || is_refused(signal, connection->proof_in.signal)) {
        return;
    }
    connection->trial_taken = true;
    connection->answer_due = true;
    list(*connection);
}

// A listener may close the connection, so the stream is held here meanwhile.
void PostOffice::hear(Connection& connection) {
    const std::string stream = std::exchange(connection.incoming, {});
    std::string_view rest = stream;
    while (!connection.closed) {
        const auto entry = first_entry(rest);
        if (!entry) {
            connection.incoming = rest;
            return;
        }
        rest.remove_prefix(entry->bytes);
        if (listener_) {
            listener_(connection, *entry);
        }
    }
}

void PostOffice::take_answer(const Signal& signal) {
    const auto [peer, own] = origin_of(signal);
    Connection* const connection = find(peer, own);
    if (connection == nullptr) {
        ++statistics_.refused;
        return;
    }
    if (is_refused(signal, connection->proof_in.signal)) {
        return;
    }
    const auto answer =
        read_answer(mailbox_.data + layout_.answer_at(signal.place), connection->proof_in);
    if (!answer) {
        ++statistics_.refused;
        return;
    }
    const bool tells_of_trial = answer->has_tried != 0 &&
                                connection->trial != Connection::Trial::none &&
                                connection->trial != Connection::Trial::answered;
    if (tells_of_trial) {
        connection->trial = Connection::Trial::answered;
    }
    if (answer->number != connection->put ||
        !(connection->record_unanswered || connection->record_to_put)) {
        statistics_.repeated += tells_of_trial ? 0 : 1;
    } else {
        connection->record_unanswered = connection->record_to_put = false;
        connection->failed_puts = connection->looks = 0;
        connection->repeat_after = 2;
        if (std::exchange(connection->urgent_in_doubt, false)) {
            connection->outgoing += connection->urgent;
        }
        give_back_record(*connection);
        list(*connection);
    }
}

}  // namespace trefoil
