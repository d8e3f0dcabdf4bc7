// SPDX-License-Identifier: BSD-3-Clause
// The worker's look at calls that do not go on.
#include <algorithm>
#include <thread>

#include "threads/executor/executor.hpp"
#include "threads/executor/worker.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;
/// Who sleeps at one of several groups does not see what comes to the others: so short at first,
/// and 2 ms where it has long waited in vain.
constexpr std::chrono::microseconds first_turn{100};

constexpr std::chrono::microseconds turn_of(std::chrono::microseconds sleep) {
    return std::min(sleep, std::max(first_turn, sleep / 100));
}

}  // namespace

/// Of an executor the time counts in which none of its calls goes on. Somebody must wait
/// meanwhile: for one of them, or for a call of another executor when none goes on at all. So a
/// call that hangs ends although others go on, and a call that was begun early may wait for peers
/// as long as the program has other things to do.
/// False: there is no such time.
bool Worker::count_idle_time(Clock::time_point now, bool nobody_waits) noexcept {
    const auto moves_of = [](const Part& part) { return part.executor->moves(); };
    const bool all_stand = std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
        return moves_of(part) == part.moves;
    });
    bool any_is_idle = false;
    for (Part& part : parts_) {
        if (part.executor->was_asked()) {
            part.asked = now;
        } else if (engine_.serves() ? nobody_waits : now - part.asked > patience().longest_gap) {
            part.asked = {};
        }
        const bool is_asked_for = part.asked != Clock::time_point{};
        const std::uint64_t moves = moves_of(part);
        if (nobody_waits || moves != part.moves || part.idle_since == Clock::time_point{} ||
            !(is_asked_for || all_stand)) {
            part.moves = moves;
            part.idle_since = now;
            part.executor->watch().begin_wait();
        } else {
            any_is_idle = true;
        }
    }
    return any_is_idle;
}

bool Worker::any_trouble(std::span<Worker* const> team) noexcept {
    return std::ranges::any_of(team, [](const Worker* worker) { return worker->trouble_; });
}

bool Worker::advance_in_turns(std::span<Worker* const> team) noexcept {
    bool moved = false;
    for (Worker* const worker : team) {
        moved |= worker->advance();
    }
    return moved;
}

/// The first one's waiting policy is that of all; they sleep at their groups in turns.
void Worker::idle_in_turns(std::span<Worker* const> team) noexcept {
    Worker& first = *team.front();
    for (Worker* const worker : team) {
        worker->was_idle_ = true;
    }
    const Progress progress = first.engine_.progress();
    const bool serves = first.in_caller_ && progress;
    std::chrono::microseconds length = first.waiting_.idle(serves);
    length = serves ? std::min(length, longest_sleep_with_progress) : length;
    if (serves && first.progress_turns_.due(length.count() > 0 || first.waiting_.yields())) {
        progress();
    }
    if (length.count() == 0) {
        return;
    }
    for (Worker* const worker : team) {
        worker->look_after_calls(Clock::now());
    }
    if (first.engine_.groups_are_gone()) {
        std::this_thread::sleep_for(first_turn);
        return;
    }
    first.turn_ = (first.turn_ + 1) % team.size();
    Worker& sleeper = *team[first.turn_];
    sleeper.engine_.wake_up().sleep(sleeper.number_, sleeper.changes_seen_, turn_of(length));
}

void Worker::look_after_calls(Clock::time_point now) noexcept {
    const bool nobody_waits = !engine_.is_waited_for() || now - looked_ > patience().longest_gap;
    looked_ = now;
    if (number_ == 0 && !count_idle_time(now, nobody_waits)) {
        next_check_ = now + patience().check_interval;
    }
    for (const Part& part : parts_) {
        part.part->pass_failure_on();
    }
    if (now < next_check_) {
        return;
    }
    links_.post().repeat_unanswered();
    for (const Part& part : parts_) {
        if (part.part->failed() ||
            (number_ == 0 && now - part.idle_since < patience().check_interval)) {
            continue;
        }
        if (number_ != 0 || part.executor->watch().look(now - part.idle_since)) {
            part.executor->watch().report(number_);
        }
    }
    next_check_ = Clock::now() + patience().check_interval;
}

}  // namespace trefoil
