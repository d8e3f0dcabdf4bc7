// SPDX-License-Identifier: BSD-3-Clause
// Schedules are built, then get their channels.
#include "comm/communicator/schedules.hpp"

#include <set>
#include <utility>

#include "comm/plan/hash.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

std::size_t Schedules::Hash::operator()(const Key& key) const noexcept {
    return mix_hash(reinterpret_cast<std::uintptr_t>(key.algorithm),
                    static_cast<std::uint64_t>(key.options.root));
}

const Schedule& Schedules::get(const Choice& choice, bool acknowledged) {
    Built& built = schedules_[Key{choice.algorithm, choice.options}];
    if (!built.complete) {
        const TorusMap& map = geometry_.map;
        built.schedule = choice.algorithm->build(
            map.torus, map.position_of[static_cast<std::size_t>(channels_.rank)], choice.options);
        map.renumber(built.schedule);
        geometry_.use_ports(built.schedule);
    }
    if (!built.complete || (acknowledged && !built.acknowledged)) {
        add_channels(built.schedule, acknowledged);
        built.complete = true;
        built.acknowledged |= acknowledged;
    }
    return built.schedule;
}

void Schedules::add_channels(const Schedule& schedule, bool acknowledged) {
    std::set<std::pair<Rank, int>> outgoing, incoming;
    for (const Send& send : schedule.sends) {
        outgoing.insert({send.peer, send.port.index});
    }
    for (const Receive& receive : schedule.receives) {
        incoming.insert({receive.peer, receive.port.index});
    }
    if (acknowledged) {  // the way back has the same key: own port and peer
        outgoing.insert(incoming.begin(), incoming.end());
        incoming = outgoing;
    }
    const std::size_t out = channels_.out.size(), in = channels_.in.size();
    for (const auto& [peer, port] : incoming) {
        (void)channels_.add_in(peer, Port{port});
    }
    for (const auto& [peer, port] : outgoing) {
        (void)channels_.add_out(peer, Port{port});
    }
    const std::size_t new_out = channels_.out.size() - out, new_in = channels_.in.size() - in;
    if (new_out + new_in == 0) {
        return;
    }
    log_info(LogTopic::transport, [&] {
        return std::to_string(new_out) + " connections out and " + std::to_string(new_in) +
               " in (" + std::to_string(new_in * channels_.landing_bytes()) +
               " bytes of landing memory)";
    });
    for (std::size_t c = out; c < channels_.out.size(); ++c) {
        log_debug(LogTopic::transport, [&] {
            return "connects: " +
                   route_text(channels_, channels_.out[c].port, channels_.out[c].peer);
        });
    }
}

}  // namespace trefoil
