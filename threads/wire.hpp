// SPDX-License-Identifier: BSD-3-Clause
// The connections of one rank: its port groups and the channels between ports of two ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/endpoint.hpp"

namespace trefoil {

/// A channel carries the messages from one rank's port to one peer's opposite port. At the receiver
/// it has a landing region of `Wire::slots` slots of `Wire::slot_bytes` each; the k-th message of a
/// segment lies behind the k-1 before it. Both ends know the sequence and all sizes, so nothing but
/// the region's address is ever exchanged.
struct OutChannel {
    Rank peer = 0;
    Port port;      ///< the own port
    int group = 0;  ///< index of the own group that drives it
    Peer endpoint;
    RemoteMemory landing;
    std::uint64_t offset = 0;  ///< of slot 0 in `landing`
    std::uint32_t id = 0;      ///< the receiver's number of the channel
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
};

struct Wire {
    std::vector<std::unique_ptr<PortGroup>> groups;
    std::vector<OutChannel> out;
    std::vector<InChannel> in;
    /// in_by_id[group][channel number] = index into `in`.
    std::vector<std::vector<std::uint32_t>> in_by_id;
    std::size_t slot_bytes = 0;
    std::uint32_t slots = 0;
};

}  // namespace trefoil
