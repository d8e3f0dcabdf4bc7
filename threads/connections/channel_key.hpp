// SPDX-License-Identifier: BSD-3-Clause
// Channels of communicators that share a port group: their names, and their two ends.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backend/ports/port_group.hpp"
#include "threads/connections/landing_arena.hpp"

namespace trefoil {

/// What a channel is called at either end. There are a few for each way between two ports of two
/// ranks of a communicator, which differ in their `ring` of landing slots; a lane is as another
/// communicator here. `peer` is the rank at the other end, as the cards number ranks, and `port`
/// the own port; at the other end it is the opposite one.
struct ChannelKey {
    std::uint64_t communicator = 0;
    Rank peer = 0;
    Port port;
    std::uint32_t ring = 0;
    friend constexpr auto operator<=>(const ChannelKey&, const ChannelKey&) = default;
};

/// The receiver's end.
struct Landing {
    ChannelKey key;
    std::byte* data = nullptr;  ///< slot 0
    std::uint64_t slot_bytes = 0;
    std::uint32_t slots = 0;
    std::uint32_t id = 0;        ///< by which notifications name the channel at this group
    std::uint32_t proof = 0;     ///< what its notifications may carry as a proof
    std::uint64_t arrivals = 0;  ///< notifications that have named the channel
    bool peer_left = false;      ///< the peer's communicator has ended
    bool ended = false;          ///< this rank's has

    void* user = nullptr;      ///< whatever its user finds it by
    std::uint32_t number = 0;  ///< the same

    ArenaSlice memory;
    std::optional<std::uint64_t> puts;  ///< of the peer, all that there will be, once it has left
};

/// The sender's end.
struct Wire {
    ChannelKey key;
    Peer endpoint;
    RemoteMemory memory;
    std::uint64_t offset = 0;  ///< of slot 0 in `memory`
    std::uint64_t slot_bytes = 0;
    std::uint32_t slots = 0;
    std::uint32_t id = 0;
    std::uint32_t proof = 0;
    /// Whoever puts through the channel counts here each put that was accepted, with or without
    /// bytes. The receiver is told the sum at the end.
    std::uint64_t puts = 0;
    bool peer_left = false;  ///< the peer's communicator has ended
};

}  // namespace trefoil
