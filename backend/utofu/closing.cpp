// SPDX-License-Identifier: BSD-3-Clause
// The end of a uTofu port group. The network never touches memory that was given back: what cannot
// be seen off in time is leaked.
#include <algorithm>
#include <cstddef>
#include <thread>

#include "backend/utofu/group.hpp"
#include "topo/patience.hpp"

namespace trefoil::utofu {

using Clock = std::chrono::steady_clock;

UtofuGroup::~UtofuGroup() {
    if (!abandoned_) {
        const Clock::time_point deadline = Clock::now() + patience().longest_drain;
        drain(deadline);
        say_farewells(deadline);
    }
    close();
}

bool UtofuGroup::is_quiet() const {
    return unfinished_.empty() && std::all_of(queues_.begin(), queues_.end(), [](const Queue& q) {
               return q.under_way == 0 && q.farewells == 0;
           });
}

void UtofuGroup::drain(Clock::time_point deadline) {
    std::array<Event, 16> events;
    while (!is_quiet() && Clock::now() < deadline) {
        if (look(events) == 0) {
            std::this_thread::yield();
        }
    }
}

// It is answered when it is in the peer's memory. Strong order has brought all else before it, so
// nothing gets lost with the queue, and the peer's software has no part in it.
void UtofuGroup::say_farewells(Clock::time_point deadline) {
    std::array<Event, 16> events;
    for (const Way& way : ways_) {
        Queue& queue = queues_[way.queue];
        int code = UTOFU_ERR_BUSY;
        while (code == UTOFU_ERR_BUSY && Clock::now() < deadline) {
            code = library().put_piggyback8(
                queue.handle, way.peer, 1, way.hello + offsetof(Hello, closed),
                sizeof(std::uint64_t), static_cast<std::uint64_t>(Edata::farewell),
                UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, nullptr);
            if (code == UTOFU_ERR_BUSY) {
                queue.busy = true;
                look(events);
                std::this_thread::yield();
            }
        }
        queue.farewells += code == UTOFU_SUCCESS ? 1 : 0;
    }
    drain(deadline);
}

void UtofuGroup::abandon(std::chrono::milliseconds longest) noexcept {
    if (abandoned_) {
        return;
    }
    abandoned_ = true;
    drain(Clock::now() + longest);
    for (const std::size_t number : unfinished_) {
        ways_[number].unfinished = false;
    }
    unfinished_.clear();
    // Without a registration nothing lands there, and nothing is read.
    for (const auto& [number, memory] : registered_) {
        deregister_from_all(*memory);
    }
    registered_.clear();
}

void UtofuGroup::close() {
    if (!is_quiet()) {
        for (const auto& memory : allocated_) {
            memory->pages->leak();
        }
        for (Queue& queue : queues_) {
            if (queue.control != nullptr) {
                queue.control->leak();
            }
        }
        return;
    }
    for (const auto& [number, memory] : registered_) {
        deregister_from_all(*memory);
    }
    for (const auto& memory : allocated_) {
        deregister_from_all(*memory);
    }
    for (Queue& queue : queues_) {
        if (queue.control != nullptr) {
            library().dereg_mem(queue.handle, queue.control_stadd, 0);
        }
        library().free_vcq(queue.handle);
    }
}

}  // namespace trefoil::utofu
