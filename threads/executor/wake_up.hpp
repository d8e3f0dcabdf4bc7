// SPDX-License-Identifier: BSD-3-Clause
// How workers sleep without missing what their siblings do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "topo/cache_line.hpp"

namespace trefoil {

/// A worker asleep in its port group is woken by what arrives there. But a sibling may also make
/// work for it: open a step whose puts are this worker's, start or end a segment, or fail. None of
/// these changes is slept through. Whoever makes one counts it and then looks for sleepers. Whoever
/// goes to sleep counts itself and then looks for changes since it last looked for work. All four
/// accesses are sequentially consistent, so at least one of the two sees the other; and
/// PortGroup::wake() also ends a wait() that has not begun. Nobody makes a system call for workers
/// that are awake.
///
/// Thread-safety: announce() from any thread; the others by the worker that they name.
class WakeUp {
  public:
    /// Worker i sleeps in groups[i]. The groups outlive this.
    explicit WakeUp(const std::vector<std::shared_ptr<PortGroup>>& groups);

    /// How many changes there have been. A worker asks before it looks for work.
    std::uint32_t changes() const { return changes_.load(std::memory_order_acquire); }
    /// Sleeps until something arrives at the worker's group or `longest` has passed; not at all if
    /// there has been a change since changes() returned `seen`.
    void sleep(std::size_t worker, std::uint32_t seen, std::chrono::microseconds longest);
    /// A change that other workers may wait for. What the caller wrote before is visible to a
    /// worker that sees the change.
    void announce() {
        if (several_) {
            announce_from_outside();
        }
    }
    /// The same by a thread that is no worker: even a single worker may be asleep.
    void announce_from_outside();

  private:
    struct alignas(cache_line) Sleeper {
        PortGroup* group = nullptr;
        /// Set by its worker around a sleep, cleared by whoever wakes it.
        std::atomic<bool> asleep{false};
    };

    std::atomic<std::uint32_t> changes_{0};
    std::atomic<std::uint32_t> asleep_{0};  ///< workers asleep, or about to be
    std::vector<Sleeper> sleepers_;         ///< by worker
    bool several_ = false;
};

}  // namespace trefoil
