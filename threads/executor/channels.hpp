// SPDX-License-Identifier: BSD-3-Clause
// The connections of one rank: its port groups and the channels between ports of two ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/ports/port_group.hpp"

namespace trefoil {

/// A channel carries the messages from one rank's port to one peer's opposite port. At the receiver
/// it has a landing region of `Channels::slots` slots of `Channels::slot_bytes` each; the k-th
/// message of a segment lies behind the k-1 before it. Both ends know the sequence and all sizes,
/// so nothing but the region's address is ever exchanged.
struct OutChannel {
    Rank peer = 0;
    Port port;      ///< the own port
    int group = 0;  ///< index of the own group that drives it
    Peer endpoint;
    RemoteMemory landing;
    std::uint64_t offset = 0;  ///< of slot 0 in `landing`
    std::uint32_t id = 0;      ///< the receiver's number of the channel
    std::uint64_t uses = 0;    ///< segments that have used it; by worker 0
    // What calls have put so far; by the group's owner.
    std::uint64_t puts = 0, bytes = 0;
    /// Uses that the peer has not acknowledged yet, a bit each (use modulo 8). Accessed through
    /// atomic_ref: set by worker 0, cleared by the group's owner.
    std::uint8_t unacknowledged = 0;
};

struct InChannel {
    Rank peer = 0;
    Port port;  ///< the own port through which it arrives
    int group = 0;
    std::byte* landing = nullptr;  ///< slot 0
    bool greeted = false;          ///< hello has arrived
    // Accessed through atomic_ref: written by the group's owner, read by worker 0.
    bool peer_left = false;         ///< leaving has arrived
    std::uint32_t peer_failed = 0;  ///< the Control kind with which the peer reported its failure
    std::uint32_t peer_connecting = ~0U;  ///< number of the last set-up that the peer announced
    std::uint64_t peer_stalled =
        0;  ///< the StallReport under way; complete with peer_report_pieces
    std::uint32_t peer_report_pieces = 0;
    std::uint64_t uses = 0;         ///< segments that have used it; by worker 0
    std::uint32_t opposite = none;  ///< the outgoing channel of the same peer and port, if any
    static constexpr std::uint32_t none = ~0U;
};

struct Channels {
    std::vector<std::unique_ptr<PortGroup>> groups;
    std::vector<OutChannel> out;
    std::vector<InChannel> in;
    /// in_by_id[group][channel number] = index into `in`.
    std::vector<std::vector<std::uint32_t>> in_by_id;
    std::size_t slot_bytes = 0;
    std::uint32_t slots = 0;
    // Of interest to messages only.
    Rank rank = 0;
    std::string host;
    /// (peer, its port's index) -> where that port is attached: "host b, NIC net 10.0.0.2 (eth1)".
    std::map<std::pair<Rank, int>, std::string> peer_places;
};

/// One end of a channel: "direction +0 of rank 3 (host a, NIC net 10.0.0.1 (eth0))".
std::string own_text(const Channels& channels, Port own);
std::string peer_text(const Channels& channels, Rank peer, Port port);
/// "direction +0 of rank 3 (...) to direction -0 of rank 4 (...)".
std::string route_text(const Channels& channels, Port own, Rank peer);

}  // namespace trefoil
