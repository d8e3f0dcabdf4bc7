// SPDX-License-Identifier: BSD-3-Clause
// How a worker without work waits.
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
    wake_up_.sleep(static_cast<std::size_t>(me.index), me.changes_seen,
                   me.refused ? std::min(length, busy_sleep) : length);
    return true;
}

}  // namespace trefoil
