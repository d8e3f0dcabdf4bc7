// SPDX-License-Identifier: BSD-3-Clause
// Schedules are built, then connected.
#include "comm/communicator/connected_schedules.hpp"

#include "comm/plan/hash.hpp"
#include "comm/setup/set_up_text.hpp"

namespace trefoil {

std::size_t ConnectedSchedules::Hash::operator()(const Key& key) const noexcept {
    return mix_hash(reinterpret_cast<std::uintptr_t>(key.algorithm),
                    static_cast<std::uint64_t>(key.options.root));
}

const Schedule& ConnectedSchedules::get(const Choice& choice, bool acknowledged,
                                        const std::string& call) {
    const Key key{choice.algorithm, choice.options};
    const auto found = schedules_.find(key);
    if (found != schedules_.end() && (!acknowledged || found->second.acknowledged)) {
        return found->second.schedule;
    }
    Schedule schedule =
        choice.algorithm->build(map_.torus, map_.position_of[rank_], choice.options);
    map_.renumber(schedule);
    connect(schedule, acknowledged, call);
    Connected& connected = schedules_[key];
    connected = {std::move(schedule), acknowledged};
    return connected.schedule;
}

void ConnectedSchedules::connect(const Schedule& schedule, bool acknowledged,
                                 const std::string& call) {
    try {
        executor_.announce_connecting();
        channels_.allgather_offers(schedule, acknowledged, call);
        agreement_.for_all("connections", [&] {
            const NewChannels added = channels_.connect();
            executor_.greet(added.first_out, added.first_in);
            log_connected(channels_.channels(), added, call);
        });
    } catch (const Error& error) {  // whatever the status: other ranks may be connected by now
        const bool names_the_call = error.status() == Status::mismatch;
        throw OutOfStep(error.status(), names_the_call
                                            ? error.what()
                                            : "while preparing " + call + ": " + error.what());
    }
}

}  // namespace trefoil
