// SPDX-License-Identifier: BSD-3-Clause
// The connections of one rank: its port groups and the channels between ports of two ranks.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "threads/connections/cards.hpp"
#include "threads/connections/channel_key.hpp"
#include "threads/executor/channel_uses.hpp"
#include "threads/executor/growing_array.hpp"

namespace trefoil {

/// The ends of a channel whose messages are stores (stored_calls.hpp). By the thread that runs its
/// calls; the addresses before the release of connected or landed.
struct StoringEnd {
    std::byte* slots = nullptr;      ///< the first, at the receiver; null: not known yet
    std::uint64_t* taken = nullptr;  ///< there: how many uses the receiver has done with
    std::uint64_t begun = 0;         ///< uses
    std::uint64_t known_taken = 0;   ///< by the sender
    Peer peer;                       ///< whom to ring
};

/// A channel carries messages from one rank's port to one peer's opposite port: those of segments
/// that suit its ring of landing slots (landing_rings.hpp). In a slot the k-th message of a segment
/// lies behind the k-1 before it. Both ends know the sequence and all sizes, so nothing but the
/// ring's address is ever told.
///
/// Whoever plans a call adds the channels that it needs (Channels::add_out(), add_in()), at both
/// ends. The owner of the channel's group then takes landing memory and tells the peer, or hears
/// from the peer where its messages land (threads/connections). Puts wait for that; nobody else
/// does.
struct OutChannel {
    Rank peer = 0;  ///< of the communicator
    Port port;      ///< the own port
    Ring ring = Ring::few;
    int group = 0;  ///< index of the own group that drives it
    OutUses uses{};
    Permissions permissions{};
    StoringEnd end{};

    // By the group's owner. Before the release of connected: how the peer is reached. Where
    // messages land: others only look whether that is known, by `wired`, which orders nothing.
    Peer endpoint;
    Wire* wire = nullptr;
    // What calls have put so far; by the group's owner.
    std::uint64_t puts = 0, bytes = 0;
    std::uint64_t staged = 0;  ///< bytes that were gathered elsewhere before they were put

    std::atomic<bool> connected{false}, wired{false};
    std::atomic<bool> left{false};  ///< the peer's communicator has ended; orders nothing
};

struct InChannel {
    Rank peer = 0;  ///< of the communicator
    Port port;      ///< the own port through which it arrives
    Ring ring = Ring::few;
    int group = 0;
    InUses uses{};
    StoringEnd end{};
    /// The outgoing channels of the same peer and port, by ring, once there are any.
    std::array<std::atomic<std::uint32_t>, ring_kinds> opposite{none, none, none, none};
    /// One of those, that of the smallest slots; or none: for what has no bytes.
    std::uint32_t way_back() const {
        for (const Ring kind : {Ring::tiny, Ring::few, Ring::many, Ring::medium}) {
            const std::uint32_t out =
                opposite[static_cast<std::size_t>(kind)].load(std::memory_order_acquire);
            if (out != none) {
                return out;
            }
        }
        return none;
    }

    // By the group's owner, before the release of landed.
    std::byte* landing = nullptr;  ///< slot 0
    std::uint32_t proof = 0;       ///< what acknowledgements of the opposite channel carry
    // Bytes that have come so far, and those of them that are copied from landing slots into
    // vectors and scratch memory; by the group's owner.
    std::uint64_t bytes = 0, copied = 0;

    std::atomic<bool> landed{false};
    std::atomic<bool> left{false};  ///< as above
    static constexpr std::uint32_t none = ~0U;
};

/// What the channels of a communicator have in common, alike on its ranks.
struct ChannelSettings {
    LandingRings rings;
    bool checksums = false;  ///< messages carry the CRC of their bytes, at both ends alike
    int read_place = 0;      ///< of the guards of its calls that read peers' vectors
    /// Part of what messages of its calls carry.
    std::uint64_t secret = 0;
    /// Of the marks of flags (stored_calls.hpp). Nothing that can be asked for tells it. The upper
    /// two bits are 10, so that it is more than 0 with any number of uses added.
    std::uint64_t mark_key = std::uint64_t{1} << 63;
    /// Its number (comm/derived/identity.hpp), by which letters name it.
    std::uint64_t communicator = 0;
    /// What the keys of these channels say in its place: of one communicator there may be several
    /// sets of channels.
    std::uint64_t key = 0;
    /// Who hears of a failure besides those that there are channels with, through which own port.
    std::vector<std::pair<Rank, Port>> neighbours;
    /// By its rank, the rank in the job's first communicator, which the cards know; empty: the
    /// same.
    std::vector<Rank> first_rank;
    /// By its rank: it lives in this process, and its addresses are valid here, too. Empty: none
    /// does.
    std::vector<bool> in_this_process;
    // Of interest to messages only.
    Rank rank = 0;
    std::string host;
    std::shared_ptr<const Cards> cards;  ///< null: where peers are is not known
};

inline Rank first_rank_of(const ChannelSettings& settings, Rank rank) {
    return settings.first_rank.empty() ? rank : settings.first_rank[static_cast<std::size_t>(rank)];
}
/// Cause::nobody for a rank that is none of the communicator's.
Rank rank_of_first(const ChannelSettings& settings, Rank first);

struct Channels : ChannelSettings {
    Channels() = default;
    Channels(std::vector<std::shared_ptr<PortGroup>> its_groups, const ChannelSettings& settings)
        : ChannelSettings(settings), groups(std::move(its_groups)) {}

    std::vector<std::shared_ptr<PortGroup>> groups;
    GrowingArray<OutChannel> out;
    GrowingArray<InChannel> in;

    /// The channel through the own port to the peer, or from it; makes it if need be, with its
    /// opposites where they are there. By the one thread that plans. Throws bad_alloc, and
    /// Error(unsupported) when there are more than a put can name.
    std::uint32_t add_out(Rank peer, Port port, Ring ring = Ring::few);
    std::uint32_t add_in(Rank peer, Port port, Ring ring = Ring::few);

    int group_of(Port port) const;
    template <typename Channel>
    ChannelKey key_of(const Channel& channel) const {
        return {key, first_rank_of(*this, channel.peer), channel.port,
                static_cast<std::uint32_t>(channel.ring)};
    }
    const RingShape& shape_of(Ring ring) const { return rings[ring]; }
    /// In the landing memory of either end: where a use lands that brings so many bytes.
    template <typename Channel>
    std::size_t offset_of(const Channel& channel, std::uint32_t use, std::size_t bytes) const {
        const auto& group = groups[static_cast<std::size_t>(channel.group)];
        return group->traits().puts_by_stores ? rings.spread_offset(channel.ring, use, bytes)
                                              : rings.offset(channel.ring, use);
    }
    /// Of all incoming channels.
    std::size_t landing_bytes() const;

  private:
    struct End {
        Rank peer = 0;
        int port = 0;
        Ring ring = Ring::few;
        friend constexpr auto operator<=>(const End&, const End&) = default;
    };
    /// Numbers of channels, in the order of their ends: there may be very many channels.
    using ByEnd = std::vector<std::uint32_t>;
    template <typename Channel>
    static ByEnd::const_iterator place_of(const GrowingArray<Channel>& channels,
                                          const ByEnd& by_end, const End& end);
    /// None: there is no such channel.
    template <typename Channel>
    static std::uint32_t find(const GrowingArray<Channel>& channels, const ByEnd& by_end,
                              const End& end);
    /// `fill(channel)` before anybody sees it.
    template <typename Channel, typename Fill>
    std::uint32_t add(GrowingArray<Channel>& channels, ByEnd& by_end, const End& end, Fill&& fill);

    ByEnd out_by_end_, in_by_end_;
};

/// The peer has said that its communicator has ended.
bool has_ended(const Channels& channels, Rank peer);

/// One end of a channel: "direction +0 of rank 3 (host a, NIC net 10.0.0.1 (eth0))".
std::string own_text(const Channels& channels, Port own);
std::string peer_text(const Channels& channels, Rank peer, Port port);
/// "direction +0 of rank 3 (...) to direction -0 of rank 4 (...)".
std::string route_text(const Channels& channels, Port own, Rank peer);
std::string route_text(const Channels& channels, const OutChannel& channel);

}  // namespace trefoil
