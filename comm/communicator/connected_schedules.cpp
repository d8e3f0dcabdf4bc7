// SPDX-License-Identifier: BSD-3-Clause
// Schedules are built, then connected.
#include "comm/communicator/connected_schedules.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "comm/plan/hash.hpp"
#include "comm/setup/set_up_text.hpp"

namespace trefoil {

namespace {

/// A rank whose peer cannot connect waits for it in vain: it hears so after this time, not only
/// when its own ends. Nobody polls while the ranks tell each other, so it is not asked too often.
constexpr std::chrono::milliseconds first_patience{1000};
constexpr std::chrono::milliseconds longest_patience{4000};

/// What all ranks find alike; every other error is thrown.
std::optional<Error> unsupported_by(const ConnectedSchedules::Prepare& prepare,
                                    const Schedule& schedule) {
    try {
        if (prepare) {
            prepare(schedule);
        }
    } catch (const Error& error) {
        if (error.status() != Status::unsupported) {
            throw;
        }
        return error;
    }
    return std::nullopt;
}

}  // namespace

std::size_t ConnectedSchedules::Hash::operator()(const Key& key) const noexcept {
    return mix_hash(reinterpret_cast<std::uintptr_t>(key.algorithm),
                    static_cast<std::uint64_t>(key.options.root));
}

const Schedule& ConnectedSchedules::get(const Choice& choice, bool acknowledged,
                                        const std::string& call, const Prepare& prepare) {
    Connected& connected = schedules_[Key{choice.algorithm, choice.options}];
    if (!connected.complete || (acknowledged && !connected.acknowledged)) {
        connect(connected, choice, acknowledged, call, prepare);
    } else if (prepare) {
        prepare(connected.schedule);
    }
    return connected.schedule;
}

// Whatever can fail on one rank alone is done in one of the two stages.
void ConnectedSchedules::connect(Connected& connected, const Choice& choice, bool acknowledged,
                                 const std::string& call, const Prepare& prepare) {
    std::optional<Error> unsupported;
    std::string found_here;
    try {
        executor_.wait_until(
            [this] { return executor_.calls_in_flight() == 0 || executor_.settled(); });
        if (executor_.settled()) {
            throw Error(executor_.failed(), executor_.failure());
        }
        const Engine::Exclusive held(executor_.engine());
        executor_.announce_connecting();
        channels_.take(agreement_.allgather("connections", [&] {
            if (!connected.complete) {
                connected.schedule =
                    choice.algorithm->build(map_.torus, map_.position_of[rank_], choice.options);
                map_.renumber(connected.schedule);
            }
            return channels_.offer(connected.schedule, acknowledged, call);
        }));
        NewChannels added;
        bool begun = false, complete = false;
        const auto greet = [&](std::chrono::milliseconds patience) {
            if (!begun) {
                added = channels_.connect();
                executor_.begin_greeting(added.first_out, added.first_in);
                begun = true;
            }
            const bool was_complete = complete;
            complete = complete || executor_.greet_for(patience);
            if (complete && !was_complete) {
                log_connected(channels_.channels(), added, call);
                unsupported = unsupported_by(prepare, connected.schedule);
            }
        };
        // Another rank's error may end this one's wait, and may come of what this one has found.
        const auto go_on = [&](std::chrono::milliseconds patience) {
            try {
                greet(patience);
            } catch (const Error& error) {
                found_here = error.what();
                throw;
            }
            found_here = complete ? std::string() : executor_.ungreeted_text();
            return complete;
        };
        auto patience = first_patience;
        while (!agreement_.all_say_yes("connections", [&] { return go_on(patience); })) {
            patience = std::min(2 * patience, longest_patience);
        }
    } catch (const Error& error) {  // whatever the status: other ranks may be connected by now
        const bool names_the_call = error.status() == Status::mismatch;
        throw OutOfStep(
            error.status(),
            error.what() + std::string(names_the_call ? "" : " (while preparing " + call + ")"),
            found_here);
    }
    connected.complete = true;
    connected.acknowledged |= acknowledged;
    if (unsupported) {
        throw Error(*unsupported);
    }
}

}  // namespace trefoil
