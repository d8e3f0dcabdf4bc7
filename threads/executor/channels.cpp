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

std::uint32_t Channels::add_out(Rank peer, Port port) {
    const std::uint32_t number = add(out, out_by_end_, peer, port, [](OutChannel&) {});
    const auto opposite = in_by_end_.find({peer, port.index});
    if (opposite != in_by_end_.end()) {
        in[opposite->second].opposite.store(number, std::memory_order_relaxed);
    }
    return number;
}

std::uint32_t Channels::add_in(Rank peer, Port port) {
    const auto opposite = out_by_end_.find({peer, port.index});
    return add(in, in_by_end_, peer, port, [&](InChannel& channel) {
        if (opposite != out_by_end_.end()) {
            channel.opposite.store(opposite->second, std::memory_order_relaxed);
        }
    });
}

template <typename Channel, typename Fill>
std::uint32_t Channels::add(GrowingArray<Channel>& channels, ByEnd& by_end, Rank peer, Port port,
                            Fill&& fill) {
    const auto [known, is_new] = by_end.try_emplace({peer, port.index}, 0);
    if (!is_new) {
        return known->second;
    }
    try {
        require_room(channels.size());
        known->second = static_cast<std::uint32_t>(channels.size());
        channels.append([&](Channel& channel) {
            channel.peer = peer;
            channel.port = port;
            channel.group = group_of(port);
            fill(channel);
        });
    } catch (...) {
        by_end.erase(known);
        throw;
    }
    return known->second;
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

Rank rank_of_first(const ChannelTerms& terms, Rank first) {
    if (terms.first_rank.empty()) {
        return first;
    }
    const auto found = std::find(terms.first_rank.begin(), terms.first_rank.end(), first);
    return found == terms.first_rank.end() ? Cause::nobody
                                           : static_cast<Rank>(found - terms.first_rank.begin());
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
