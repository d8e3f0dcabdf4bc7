// SPDX-License-Identifier: BSD-3-Clause
// Channels in words.
#include "threads/executor/channels.hpp"

#include <algorithm>

#include "threads/executor/cause.hpp"
#include "threads/executor/put_cookie.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

constexpr std::size_t channel_limit = PutCookie::channel_limit;

void require_room(std::size_t channels) {
    if (channels >= channel_limit) {
        throw Error(Status::unsupported, "more than " + std::to_string(channel_limit) +
                                             " connections of this rank; use another algorithm");
    }
}

}  // namespace

std::uint32_t Channels::add_out(Rank peer, Port port, Ring ring) {
    const std::uint32_t number =
        add(out, out_by_end_, {peer, port.index, ring}, [](OutChannel&) {});
    for (const Ring kind : all_rings) {
        const std::uint32_t opposite = find(in, in_by_end_, {peer, port.index, kind});
        if (opposite != InChannel::none) {
            // Who has the number has the channel: workers may be at the one that comes in already.
            in[opposite].opposite[static_cast<std::size_t>(ring)].store(number,
                                                                        std::memory_order_release);
        }
    }
    return number;
}

std::uint32_t Channels::add_in(Rank peer, Port port, Ring ring) {
    return add(in, in_by_end_, {peer, port.index, ring}, [&](InChannel& channel) {
        for (const Ring kind : all_rings) {
            channel.opposite[static_cast<std::size_t>(kind)].store(
                find(out, out_by_end_, {peer, port.index, kind}), std::memory_order_relaxed);
        }
    });
}

template <typename Channel>
Channels::ByEnd::const_iterator Channels::place_of(const GrowingArray<Channel>& channels,
                                                   const ByEnd& by_end, const End& end) {
    return std::ranges::lower_bound(by_end, end, {}, [&](std::uint32_t number) {
        const Channel& channel = channels[number];
        return End{channel.peer, channel.port.index, channel.ring};
    });
}

template <typename Channel>
std::uint32_t Channels::find(const GrowingArray<Channel>& channels, const ByEnd& by_end,
                             const End& end) {
    const auto place = place_of(channels, by_end, end);
    if (place == by_end.end()) {
        return InChannel::none;
    }
    const Channel& channel = channels[*place];
    const bool is_it = End{channel.peer, channel.port.index, channel.ring} == end;
    return is_it ? *place : InChannel::none;
}

template <typename Channel, typename Fill>
std::uint32_t Channels::add(GrowingArray<Channel>& channels, ByEnd& by_end, const End& end,
                            Fill&& fill) {
    const std::uint32_t known = find(channels, by_end, end);
    if (known != InChannel::none) {
        return known;
    }
    require_room(channels.size());
    const auto number = static_cast<std::uint32_t>(channels.size());
    const auto place = by_end.insert(place_of(channels, by_end, end), number);
    try {
        channels.append([&](Channel& channel) {
            channel.peer = end.peer;
            channel.port = Port{end.port};
            channel.ring = end.ring;
            channel.group = group_of(channel.port);
            fill(channel);
        });
    } catch (...) {
        by_end.erase(place);
        throw;
    }
    return number;
}

std::size_t Channels::landing_bytes() const {
    std::size_t bytes = 0;
    for (const InChannel& channel : in) {
        bytes += rings[channel.ring].bytes();
    }
    return bytes;
}

int Channels::group_of(Port port) const {
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const auto& ports = groups[g]->ports();
        if (std::find(ports.begin(), ports.end(), port) != ports.end()) {
            return static_cast<int>(g);
        }
    }
    throw Error(Status::internal, "port " + to_string(port) + " was not opened");
}

Rank rank_of_first(const ChannelSettings& settings, Rank first) {
    if (settings.first_rank.empty()) {
        return first;
    }
    const auto found = std::find(settings.first_rank.begin(), settings.first_rank.end(), first);
    return found == settings.first_rank.end()
               ? Cause::nobody
               : static_cast<Rank>(found - settings.first_rank.begin());
}

bool has_ended(const Channels& channels, Rank peer) {
    const auto left = [peer](const auto& channel) {
        return channel.peer == peer && channel.left.load(std::memory_order_relaxed);
    };
    for (const InChannel& channel : channels.in) {
        if (left(channel)) {
            return true;
        }
    }
    for (const OutChannel& channel : channels.out) {
        if (left(channel)) {
            return true;
        }
    }
    return false;
}

std::string own_text(const Channels& channels, Port own) {
    std::string place;
    for (const auto& group : channels.groups) {
        const std::vector<Port>& ports = group->ports();
        if (std::find(ports.begin(), ports.end(), own) != ports.end()) {
            place = group->port_text(own);
        }
    }
    return "direction " + to_string(own) + " of rank " + std::to_string(channels.rank) + " (host " +
           channels.host + ", NIC " + place + ")";
}

std::string peer_text(const Channels& channels, Rank peer, Port port) {
    const std::string place = channels.cards == nullptr
                                  ? std::string()
                                  : channels.cards->place_text(first_rank_of(channels, peer), port);
    return "direction " + to_string(port) + " of rank " + std::to_string(peer) +
           (place.empty() ? place : " (" + place + ")");
}

std::string route_text(const Channels& channels, Port own, Rank peer) {
    return own_text(channels, own) + " to " + peer_text(channels, peer, own.opposite());
}

std::string route_text(const Channels& channels, const OutChannel& channel) {
    return route_text(channels, channel.port, channel.peer);
}

}  // namespace trefoil
