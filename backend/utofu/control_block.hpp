// SPDX-License-Identifier: BSD-3-Clause
// What peers write into a virtual control queue's own memory, and how much of it may be under way.
//
// A peer that connects adds one to the counter and so learns the number of its *stream*. It writes
// a hello into the stream's place: who it is, and where it wants its credit. Each put of its ends
// with a *record* in the stream's ring, whose notice carries the stream's number in its edata: the
// records of a stream arrive in order, so the n-th notice is the n-th record's.
//
// All that makes a notice at the receiver is counted in *units*, also puts that ask for none, as
// nobody knows whether those make one: a put of data is one for each piece, and one for its record.
// A sender has at most `window` units under way. The receiver tells it how many it has taken by a
// word, its *credit*, so that no queue of notices can overflow.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace trefoil::utofu {

/// A put's last words; the ring's places are written by the peer alone.
struct Record {
    enum class Kind : std::uint8_t {
        none,
        message,     ///< the notification is for the owner
        registered,  ///< the same, of a put into memory of the user's: `registration` says which
        pause        ///< of a long put: only its units count
    };
    std::uint32_t notification = 0;
    std::uint16_t sequence = 0;  ///< from 1, modulo 2^16
    std::uint8_t units = 0;      ///< since the record before, this one included
    Kind kind = Kind::none;
};
static_assert(sizeof(Record) == 8);

struct RecordPlace {
    Record record;
    std::uint64_t registration = 0;
};

struct Hello {
    std::uint64_t queue = 0;   ///< the sender's vcq_id
    std::uint64_t credit = 0;  ///< where it wants to read how many units were taken
    std::uint64_t words = 0;   ///< not 0: the hello is here
    std::uint64_t closed = 0;  ///< not 0: the sender is going, and reads nothing any more
};
constexpr std::size_t hello_bytes = 24;  ///< `closed` is written by itself

/// Values of edata that are no stream: 8 bits arrive for sure.
enum class Edata : std::uint8_t {
    connect = 252,   ///< the counter is added to, or a hello written
    farewell = 253,  ///< Hello::closed
    data = 254,      ///< a piece of a put
    credit = 255
};
constexpr std::uint32_t most_streams = 252;
constexpr std::uint32_t most_window = 64;
constexpr std::uint32_t least_window = 2;  ///< a piece and its record
/// Notices of one peer beside its window: connecting 2 and its answer, closing 2, credit 4 at most
/// until the owner has emptied the queue.
constexpr std::uint32_t other_notices = 8;

/// What a virtual control queue can serve.
struct Capacity {
    std::uint32_t streams = 0;
    std::uint32_t window = 0;
    std::uint32_t of_notices = 0;  ///< places of the queue of notices that this rests on
};

/// `notices`: places of the queue of notices that are this queue's. Streams are more than zero
/// unless that is hopeless.
constexpr Capacity capacity_for(std::uint32_t notices, std::uint32_t peers) {
    const std::uint32_t possible = notices / (least_window + other_notices);
    const std::uint32_t wanted = peers < 1 ? 1 : peers;
    std::uint32_t streams = wanted < possible ? wanted : possible;
    streams = streams < most_streams ? streams : most_streams;
    if (streams == 0) {
        return {0, 0, notices};
    }
    const std::uint32_t share = notices / streams - other_notices;
    const std::uint32_t window = std::bit_floor(share < most_window ? share : most_window);
    return {streams, window, notices};
}

/// Where the parts of a control block lie. Lines of 256 bytes are either the peers' or nobody's.
struct ControlLayout {
    static constexpr std::size_t line = 256;
    explicit ControlLayout(const Capacity& capacity)
        : ControlLayout(capacity.streams, capacity.window) {}
    ControlLayout(std::uint32_t streams, std::uint32_t window)
        : hellos(line + padded(streams * sizeof(std::uint64_t))),
          rings(hellos + padded(streams * sizeof(Hello))),
          ring_bytes(window * sizeof(RecordPlace)),
          bytes(rings + padded(streams * ring_bytes)) {}

    static constexpr std::size_t padded(std::size_t size) {
        return (size + line - 1) / line * line;
    }
    static constexpr std::size_t counter = 0;
    static constexpr std::size_t credits = line;  ///< 8 bytes for each peer that is put to
    std::size_t hellos, rings, ring_bytes, bytes;

    std::size_t credit(std::uint32_t way) const { return credits + way * sizeof(std::uint64_t); }
    std::size_t hello(std::uint32_t stream) const { return hellos + stream * sizeof(Hello); }
    std::size_t ring(std::uint32_t stream) const { return rings + stream * ring_bytes; }
};

}  // namespace trefoil::utofu
