// SPDX-License-Identifier: BSD-3-Clause
// One worker of an engine: the loop that moves all calls on, and how it waits.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "threads/executor/engine.hpp"
#include "threads/workers/waiting.hpp"

namespace trefoil {

class Executor;
class WorkerPart;

/// Drives one group, and its part of all executors. Worker 0 also watches their peers. Used by one
/// thread at a time.
class alignas(64) Worker {
  public:
    /// `in_caller`: in the thread that waits for a call.
    Worker(std::size_t number, bool in_caller, Engine& engine);

    /// While it does not work.
    void add(Executor& executor);
    void remove(Executor& executor) noexcept;

    /// Returns false when `until()`; true when an executor has failed and is to be settled.
    template <typename Until>
    bool work(const Until& until) noexcept {
        waiting_.reset();
        is_idle_ = false;
        begin_work();
        while (!until() && !trouble_) {
            if (!advance()) {
                idle();
            } else if (was_idle_) {
                goes_on();
            }
        }
        end_work();
        return std::exchange(trouble_, false);
    }
    /// Does once all that can be done now, and looks after calls that do not go on. False: nothing
    /// could be done. `trouble`: an executor has failed and is to be settled.
    bool round(bool& trouble) noexcept;
    /// Takes what has come at its group, between calls: messages are early, and of completions only
    /// those of control messages matter. False: nothing has come.
    bool listen() noexcept;

  private:
    struct Part {
        Executor* executor = nullptr;
        WorkerPart* part = nullptr;
    };

    void begin_work() noexcept {
        if (is_traced_) {
            note_begin();
        }
    }
    void end_work() noexcept {
        if (is_traced_) {
            note_end();
        }
    }
    void note_begin() noexcept;
    void note_end() noexcept;
    bool advance() noexcept;
    bool poll() noexcept;
    void goes_on() noexcept;
    void idle() noexcept;
    void wait() noexcept;
    void look_after_calls(std::chrono::steady_clock::time_point now) noexcept;
    bool refused() const noexcept;

    const std::size_t number_;
    const bool in_caller_;
    Engine& engine_;
    PortGroup* const group_;
    std::vector<Part> parts_;
    Waiting waiting_;
    std::uint32_t changes_seen_ = 0;  ///< WakeUp::changes() before it last looked for work
    std::uint32_t vain_polls_ = 0;    ///< of all calls, for the caller's progress
    bool is_traced_ = false;
    bool trouble_ = false;
    bool was_idle_ = false;  ///< in the round before
    bool is_idle_ = false;   ///< since idle_since_
    std::chrono::steady_clock::time_point idle_since_{};
    std::chrono::steady_clock::time_point next_check_{};
    std::chrono::steady_clock::time_point looked_{};  ///< when it last looked at the clock
    std::array<Event, 64> events_;
};

}  // namespace trefoil
