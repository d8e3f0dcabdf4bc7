// SPDX-License-Identifier: BSD-3-Clause
// From routes to channels.
#include "comm/plan/routes.hpp"

#include <algorithm>
#include <string>

#include "threads/executor/notification.hpp"
#include "topo/error.hpp"

namespace trefoil {

std::uint32_t Routes::number(OneWay& routes, Rank peer, Port port) {
    const auto [known, is_new] = routes.by_end.try_emplace(
        {peer, port.index}, static_cast<std::uint32_t>(routes.all.size()));
    if (is_new) {
        routes.all.push_back({peer, port});
    }
    return known->second;
}

RoutePlace Routes::take(Route& route, std::size_t bytes) const {
    const RoutePlace place{route.bytes + flag_bytes_, route.messages++};
    route.bytes += aligned(flag_bytes_ + bytes);
    if (route.bytes > slot_bytes_ || place.index >= Notification::index_limit) {
        throw Error(Status::unsupported,
                    "the messages between rank " + std::to_string(rank_) + " and rank " +
                        std::to_string(route.peer) + " in one segment (" +
                        std::to_string(route.messages) + " so far, " + std::to_string(route.bytes) +
                        " bytes) exceed their landing slot; raise TREFOIL_LANDING_BYTES or use "
                        "another algorithm");
    }
    return place;
}

void Routes::assign(Program& program, Channels& channels, bool counts_in_pairs) {
    const auto ring_of = [&](const Route& route) {
        const auto group = static_cast<std::size_t>(channels.group_of(route.port));
        return counts_in_pairs
                   ? Ring::few
                   : channels.rings.of(route.bytes, program.acknowledged,
                                       channels.groups[group]->traits().notification_bits);
    };
    for (Route& route : in_.all) {
        route.channel = channels.add_in(route.peer, route.port, ring_of(route));
    }
    for (Route& route : out_.all) {
        route.channel = channels.add_out(route.peer, route.port, ring_of(route));
    }
    in_.list(program.used_in, program.in_bytes);
    out_.list(program.used_out, program.out_bytes);
    if (program.acknowledged) {
        add_ways_back(channels);
    }
    for (ProgramPut& put : program.puts) {
        put.channel = out_.all[put.channel].channel;
    }
    assign_peers(program, channels);
    assign_spaces(program,
                  Location::first_landing + static_cast<std::uint32_t>(channels.in.size()));
    program.arrivals.resize(channels.in.size());
    list_arrivals(program);
}

void Routes::OneWay::list(std::vector<std::uint32_t>& channels,
                          std::vector<std::size_t>& bytes) const {
    std::map<std::uint32_t, std::size_t> in_order;
    for (const Route& route : all) {
        in_order[route.channel] = route.bytes;
    }
    for (const auto& [channel, its_bytes] : in_order) {
        channels.push_back(channel);
        bytes.push_back(its_bytes);
    }
}

void Routes::add_ways_back(Channels& channels) const {
    for (const Route& route : in_.all) {
        (void)channels.add_out(route.peer, route.port, Ring::tiny);
    }
    for (const Route& route : out_.all) {
        (void)channels.add_in(route.peer, route.port, Ring::tiny);
    }
}

/// Of a peer that is read any channel will do: it says how the peer is reached.
void Routes::assign_peers(Program& program, Channels& channels) const {
    const auto assigned = [&](std::uint32_t peer) {
        const auto leads_there = [peer](const Route& route) {
            return route.peer == static_cast<Rank>(peer);
        };
        const auto out = std::find_if(out_.all.begin(), out_.all.end(), leads_there);
        if (out != out_.all.end()) {
            return out->channel;
        }
        const auto in = std::find_if(in_.all.begin(), in_.all.end(), leads_there);
        return channels.add_out(in->peer, in->port, Ring::tiny);
    };
    std::transform(program.peers.begin(), program.peers.end(), program.peers.begin(), assigned);
    std::transform(program.reads.begin(), program.reads.end(), program.reads.begin(), assigned);
}

void Routes::assign_spaces(Program& program, std::uint32_t first) const {
    program.first_peer = first;
    const auto assign = [&](Location& at) {
        if (at.space >= first_peer) {
            at.space = first + (at.space - first_peer);
        } else if (at.space >= Location::first_landing) {
            at.space =
                Location::first_landing + in_.all[at.space - Location::first_landing].channel;
        }
    };
    for (ProgramOp& op : program.ops) {
        for (Location* at : {&op.target, &op.source, &op.second, &op.third}) {
            assign(*at);
        }
    }
}

void Routes::list_arrivals(Program& program) const {
    for (const Route& route : in_.all) {
        program.arrivals[route.channel] = {static_cast<std::uint32_t>(program.arrival_steps.size()),
                                           static_cast<std::uint32_t>(route.arrivals.size())};
        for (const RouteArrival& arrival : route.arrivals) {
            program.arrival_steps.push_back(arrival.step);
            program.arrival_bytes.push_back(arrival.bytes);
            program.arrival_copies.push_back(arrival.copies);
            program.arrival_offsets.push_back(arrival.offset);
        }
    }
}

}  // namespace trefoil
