// SPDX-License-Identifier: BSD-3-Clause
// Who of some ranks is left: how long one may be silent, and what letters bring.
#include <chrono>
#include <string>
#include <utility>

#include "comm/communicator/world.hpp"
#include "topo/log/log.hpp"
#include "topo/patience.hpp"
#include "topo/words.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;
/// Letters that got lost meanwhile are sent again.
constexpr int looks_per_repetition = 5;
/// Each time that somebody is lost the others agree again, within its time; in all within so
/// many times of it.
constexpr int most_times = 4;

}  // namespace

void World::hear(Rank from, std::uint64_t tag, std::string_view text) {
    const auto topic = static_cast<Topic>(text.empty() ? '\0' : text.front());
    text.remove_prefix(text.empty() ? 0 : 1);
    const std::lock_guard lock(gathering_mutex_);
    if (topic == Topic::survivors) {
        survivors_of(tag).take(from, text);
    } else {
        gatherings_.take(from, tag, text);
    }
}

/// With the mutex. Letters may come before this rank begins.
Survivors& World::survivors_of(std::uint64_t tag) {
    const auto send = [this, tag](Rank to, std::string_view text) {
        engine_->say(to, port_towards(to), tag, as_letter(Topic::survivors, text));
    };
    return survivors_.try_emplace(tag, send).first->second;
}

/// Who has ended on another host is told by a rank there.
void World::lose_the_dead(std::uint64_t tag) {
    const Engine::Exclusive held(*engine_);
    for (const ProcessNews& process : job_->look_at_processes()) {
        if (process.state == ProcessNews::State::ended) {
            const std::lock_guard lock(gathering_mutex_);
            survivors_of(tag).lose(process.rank);
        }
    }
}

World::Left World::find_survivors(const Meeting& meeting, std::string mine,
                                  std::chrono::milliseconds longest,
                                  std::optional<Rank> suspected) {
    const auto require_ports = [this] {
        if (engine_->groups_are_gone()) {
            throw Error(Status::peer_lost,
                        "the survivors cannot be found: the ports of this rank have ended, as "
                        "messages of the failed calls could not be stopped otherwise; end the job, "
                        "and begin a new one");
        }
    };
    if (ranks() > 1) {
        require_ports();
    }
    {
        const std::lock_guard lock(gathering_mutex_);
        survivors_of(meeting.tag).begin(meeting.members, meeting.place, std::move(mine));
    }
    const auto begun = Clock::now();
    auto quiet_since = begun;
    std::vector<Rank> missing;
    int looks = 0;
    bool over = false;
    const auto look = [&] {
        const std::lock_guard lock(gathering_mutex_);
        const Survivors& part = survivors_of(meeting.tag);
        over = part.has_decided() || part.is_left_out();
        return over;
    };
    while (!look()) {
        lose_the_dead(meeting.tag);
        (void)engine_->drive_until(look, Clock::now() + patience().survivors_look_interval);
        if (over) {
            break;
        }
        if (++looks % looks_per_repetition == 0) {
            const Engine::Exclusive held(*engine_);
            for (std::size_t g = 0; g < engine_->groups().size(); ++g) {
                engine_->links(g).post().repeat_unanswered();
            }
        }
        require_ports();
        const std::lock_guard lock(gathering_mutex_);
        Survivors& part = survivors_of(meeting.tag);
        const auto now = Clock::now();
        if (std::vector<Rank> now_missing = part.missing(); now_missing != missing) {
            missing = std::move(now_missing);
            quiet_since = now;
        }
        for (const Rank rank : missing) {
            const bool is_suspect = suspected == rank && now - begun > patience().for_a_suspect;
            if (is_suspect || now - quiet_since > part.patience() * longest) {
                log_info(LogTopic::call, [&] {
                    return "rank " + std::to_string(rank) +
                           " of the first communicator does not answer: it is left out";
                });
                part.lose(rank);
            }
        }
        if (now - begun > most_times * longest) {
            throw Error(Status::timeout,
                        "the survivors could not agree who is left: nothing has "
                        "come from rank " +
                            joined(missing) + " of the first communicator; try again");
        }
    }
    if (ranks() > 1) {
        const Engine::Exclusive held(*engine_);
        engine_->drain(patience().survivors_farewell);
    }
    const std::lock_guard lock(gathering_mutex_);
    const Survivors& part = survivors_of(meeting.tag);
    if (!part.has_decided()) {
        throw Error(Status::peer_lost,
                    "this rank was taken for dead: it has not answered in time, and rank " +
                        std::to_string(part.left_out_by()) +
                        " of the first communicator goes on with the others");
    }
    return {part.survivors(), part.words()};
}

}  // namespace trefoil
