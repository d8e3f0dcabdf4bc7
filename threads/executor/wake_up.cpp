// SPDX-License-Identifier: BSD-3-Clause
// Counting changes and sleepers, each before it looks for the other.
#include "threads/executor/wake_up.hpp"

namespace trefoil {

WakeUp::WakeUp(const std::vector<std::shared_ptr<PortGroup>>& groups)
    : sleepers_(groups.size()), several_(groups.size() > 1) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
        sleepers_[i].group = groups[i].get();
    }
}

void WakeUp::sleep(std::size_t worker, std::uint32_t seen, std::chrono::microseconds longest) {
    Sleeper& me = sleepers_[worker];
    me.asleep.store(true, std::memory_order_relaxed);  // the next line shows it
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    if (changes_.load(std::memory_order_seq_cst) == seen) {
        me.group->wait(longest);
    }
    asleep_.fetch_sub(1, std::memory_order_relaxed);
    me.asleep.store(false, std::memory_order_relaxed);
}

void WakeUp::announce_from_outside() {
    changes_.fetch_add(1, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst) == 0) {
        return;
    }
    for (Sleeper& sleeper : sleepers_) {
        if (sleeper.asleep.load(std::memory_order_relaxed) &&
            sleeper.asleep.exchange(false, std::memory_order_relaxed)) {
            sleeper.group->wake();
        }
    }
}

}  // namespace trefoil
