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
#include "threads/executor/channel_uses.hpp"
#include "threads/executor/peer_news.hpp"
#include "threads/executor/reports.hpp"

namespace trefoil {

/// A channel carries the messages from one rank's port to one peer's opposite port. At the receiver
/// it has a landing region of `Channels::slots` slots of `Channels::slot_bytes` each, and behind
/// them a ControlArea; the k-th message of a segment lies behind the k-1 before it. Both ends know
/// the sequence and all sizes, so nothing but the region's address is ever exchanged. Set-up makes
/// a channel; all but what it counts stands from then on.
struct OutChannel {
    Rank peer = 0;
    Port port;      ///< the own port
    int group = 0;  ///< index of the own group that drives it
    Peer endpoint;
    RemoteMemory landing;
    std::uint64_t offset = 0;  ///< of slot 0 in `landing`
    std::uint32_t id = 0;      ///< the receiver's number of the channel
    std::uint32_t proof = 0;   ///< what control messages carry; the communicator's ranks know it
    OutUses uses{};
    // What calls have put so far; by the group's owner.
    std::uint64_t puts = 0, bytes = 0;
    // By the group's owner: the call that stall reports were last written in, and how many.
    std::uint64_t reported_call = 0;
    std::uint32_t reports = 0;
    bool told_of_failure = false;  ///< or can never be
};

struct InChannel {
    Rank peer = 0;
    Port port;  ///< the own port through which it arrives
    int group = 0;
    std::byte* landing = nullptr;   ///< slot 0
    std::uint32_t opposite = none;  ///< the outgoing channel of the same peer and port, if any
    std::uint32_t proof = 0;        ///< what its control messages must carry
    InUses uses{};
    PeerNews news{};
    static constexpr std::uint32_t none = ~0U;
};

struct Channels {
    std::vector<std::shared_ptr<PortGroup>> groups;
    std::vector<OutChannel> out;
    std::vector<InChannel> in;
    /// in_by_id[group][channel number] = index into `in`.
    std::vector<std::vector<std::uint32_t>> in_by_id;
    std::size_t slot_bytes = 0;
    std::uint32_t slots = landing_slots;
    bool checksums = false;  ///< messages carry the CRC of their bytes, at both ends alike
    /// Of the communicator, alike on its ranks; part of what messages of its calls carry.
    std::uint64_t secret = 0;
    /// The communicator's number (comm/derived/identity.hpp), alike on its ranks; 0: the first one.
    std::uint64_t communicator = 0;
    /// By rank of the communicator, the rank in the job's first one; empty: the same.
    std::vector<Rank> first_rank;
    Rank first_rank_of(Rank rank) const {
        return first_rank.empty() ? rank : first_rank[static_cast<std::size_t>(rank)];
    }
    // Of interest to messages only.
    Rank rank = 0;
    std::string host;
    /// (peer, its port's index) -> where that port is attached: "host b, NIC net 10.0.0.2 (eth1)".
    std::map<std::pair<Rank, int>, std::string> peer_places;

    /// The incoming channel that notifications at `group` call `id`; InChannel::none: there is
    /// none.
    std::uint32_t in_of(std::size_t group, std::uint32_t id) const {
        const std::vector<std::uint32_t>& numbers = in_by_id[group];
        return id < numbers.size() ? numbers[id] : InChannel::none;
    }
    /// Where the ControlArea begins, in the landing region of either end.
    std::size_t control_offset() const { return slots * slot_bytes; }
    /// Of a landing region.
    std::size_t landing_bytes() const { return control_offset() + control_area_bytes; }
    /// Where the slot of a use begins, in the landing region of either end.
    std::size_t slot_offset(std::uint32_t use) const { return use % landing_slots * slot_bytes; }
};

/// One end of a channel: "direction +0 of rank 3 (host a, NIC net 10.0.0.1 (eth0))".
std::string own_text(const Channels& channels, Port own);
std::string peer_text(const Channels& channels, Rank peer, Port port);
/// "direction +0 of rank 3 (...) to direction -0 of rank 4 (...)".
std::string route_text(const Channels& channels, Port own, Rank peer);
std::string route_text(const Channels& channels, const OutChannel& channel);

}  // namespace trefoil
