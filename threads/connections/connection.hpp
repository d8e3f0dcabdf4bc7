// SPDX-License-Identifier: BSD-3-Clause
// A connection: an own port and a peer's opposite port, and the streams between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/ports/port_group.hpp"
#include "threads/connections/landing_arena.hpp"
#include "threads/connections/record.hpp"

namespace trefoil {

/// Either way goes a stream of entries, in records. One record of a direction is under way: it is
/// put into the receiver's place, the receiver answers, and then the place may be written again.
/// What waits meanwhile waits here. So nothing is lost, doubled or overtaken whatever the transport
/// does with the order of puts, and a peer that does not look holds up nobody but this stream. Both
/// ways work when the first record is answered. Data; PostOffice moves it.
struct Connection {
    std::uint32_t number = 0;  ///< in the post office
    Rank peer = 0;
    Port port;  ///< the own port
    Peer endpoint;
    RemoteMemory mailbox;           ///< of the peer's group
    std::uint32_t place_there = 0;  ///< this rank's, in it
    std::size_t answer_there = 0, record_there = 0, urgent_there = 0, trial_there = 0;  ///< offsets
    std::uint32_t place_here = 0;  ///< the peer's
    Proof proof_out, proof_in;

    // The own stream. The source of a record is taken when there is one, and may be changed again
    // when it has left and was answered; that of the answer when it has left.
    std::string outgoing;  ///< what no record holds yet
    ArenaSlice record;
    std::size_t record_bytes = 0;  ///< that travel
    std::uint64_t put = 0;         ///< the last record's number
    bool record_to_put = false, record_leaving = false, record_unanswered = false;

    // What does not wait for answers: one entry, once.
    std::string urgent;
    ArenaSlice urgent_source;
    bool urgent_used = false, urgent_to_put = false, urgent_leaving = false, urgent_taken = false;
    /// It may have got lost: it is said again in the stream, when the peer answers that.
    bool urgent_in_doubt = false;

    /// A put of many bytes, once. It goes when both streams have shown that small ones arrive.
    enum class Trial { none, to_put, leaving, unanswered, answered };
    Trial trial = Trial::none;
    bool trial_taken = false;  ///< of the peer's

    // The peer's stream.
    std::string incoming;     ///< the beginning of an entry
    std::uint64_t taken = 0;  ///< the last record's number
    ArenaSlice answer;
    bool answer_due = false, answer_leaving = false;

    std::uint32_t failed_puts = 0;  ///< since the last answer
    // Of PostOffice::repeat_unanswered(): how often it has looked in vain, and after how many looks
    // it repeats the record.
    std::uint32_t looks = 0, repeat_after = 2;
    bool listed = false;  ///< among those that may have something to put
    bool closed = false;  ///< broken, or the peer is gone: nothing is put any more
    /// What the peer says is not followed any more, since it could not be: for a lack here, as a
    /// rule. The way to the peer is as it was, so that it can be told.
    bool deaf = false;
    /// Why, where it is broken or deaf: perhaps for a lack here.
    Status broken_as = Status::success;
    std::string broken_why;

    bool may_write_record() const {
        return !record_to_put && !record_leaving && !record_unanswered;
    }
    bool may_put_trial() const {
        return trial == Trial::to_put && put > 0 && may_write_record() && taken > 0 &&
               !answer_due && !answer_leaving;
    }
    /// All that this rank had to say was answered, and so have its answers been put.
    bool was_heard() const { return closed || (is_quiet() && !record_unanswered); }
    /// All that this rank has to say has left it.
    bool is_quiet() const {
        return closed || (outgoing.empty() && !record_to_put && !record_leaving && !urgent_to_put &&
                          !urgent_leaving && !answer_due && !answer_leaving &&
                          trial != Trial::to_put && trial != Trial::leaving);
    }
};

/// The cookie of a put of a mailbox: its upper three bits are 010, the two lowest say which put.
class ConnectionCookie {
  public:
    static constexpr ConnectionCookie of_record(std::uint32_t connection) {
        return ConnectionCookie(mark | std::uint64_t{connection} << 2);
    }
    static constexpr ConnectionCookie of_answer(std::uint32_t connection) {
        return ConnectionCookie(mark | std::uint64_t{connection} << 2 | 1);
    }
    static constexpr ConnectionCookie of_urgent(std::uint32_t connection) {
        return ConnectionCookie(mark | std::uint64_t{connection} << 2 | 2);
    }
    static constexpr ConnectionCookie of_trial(std::uint32_t connection) {
        return ConnectionCookie(mark | std::uint64_t{connection} << 2 | 3);
    }
    static constexpr bool is_one(std::uint64_t bits) { return (bits & mask) == mark; }
    constexpr explicit ConnectionCookie(std::uint64_t bits) : bits_(bits) {}

    constexpr std::uint64_t bits() const { return bits_; }
    constexpr std::uint32_t connection() const {
        return static_cast<std::uint32_t>((bits_ & ~mask) >> 2);
    }
    constexpr bool is_answer() const { return (bits_ & 3) == 1; }
    constexpr bool is_urgent() const { return (bits_ & 3) == 2; }
    constexpr bool is_trial() const { return (bits_ & 3) == 3; }

  private:
    static constexpr std::uint64_t mask = std::uint64_t{7} << 61;
    static constexpr std::uint64_t mark = std::uint64_t{2} << 61;
    std::uint64_t bits_;
};

}  // namespace trefoil
