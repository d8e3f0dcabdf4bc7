// SPDX-License-Identifier: BSD-3-Clause
// How a worker without work waits, and who wakes it.
#include <algorithm>

#include "threads/executor/state.hpp"

namespace trefoil {

bool Executor::idle(Worker& me) {
    const std::int64_t begin = me.clock();
    const bool goes_on = idle_once(me);
    if (begin != 0) {
        me.wait_begin = me.wait_begin == 0 ? begin : me.wait_begin;
        me.wait_end = trace_clock();
    }
    return goes_on;
}

bool Executor::idle_once(Worker& me) {
    std::chrono::microseconds length = me.waiting.idle();
    if (me.in_caller && options_.progress) {
        length = std::min(length, longest_sleep_with_progress);
        if (length.count() > 0 || ++me.vain_polls % polls_per_progress == 0) {
            options_.progress();
        }
    }
    if (length.count() == 0) {
        return true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!me.is_idle) {
        me.is_idle = true;
        me.idle_since = now;
        me.next_check = now + check_interval;
        me.next_look = look_interval;
    }
    if (now >= me.next_check && !look_for_trouble(me, now - me.idle_since)) {
        return false;
    }
    sleep(me, me.refused ? std::min(length, busy_sleep) : length);
    return true;
}

// A worker asleep in its group is woken by that group's arrivals; but a sibling may open a step
// whose puts are this worker's, start or end a segment, or fail. No such change is slept through:
// the changer counts it, then looks for sleepers; the sleeper counts itself, then looks for changes
// since it last looked for work. All four are sequentially consistent, so at least one sees the
// other; and wake() also ends a wait() that has not begun. Nobody makes a system call for workers
// that are awake.
void Executor::sleep(Worker& me, std::chrono::microseconds longest) {
    me.asleep.store(true, std::memory_order_seq_cst);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (changes_.load(std::memory_order_seq_cst) == me.changes_seen) {
        channels_.groups[me.index]->wait(longest);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    me.asleep.store(false, std::memory_order_relaxed);
}

void Executor::wake_siblings() {
    if (workers_.size() == 1) {
        return;
    }
    changes_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) == 0) {
        return;
    }
    for (const auto& worker : workers_) {
        if (worker->asleep.load(std::memory_order_seq_cst) && worker->asleep.exchange(false)) {
            channels_.groups[worker->index]->wake();
        }
    }
}

}  // namespace trefoil
