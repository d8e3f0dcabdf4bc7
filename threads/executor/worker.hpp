// SPDX-License-Identifier: BSD-3-Clause
// One worker of an engine: the loop that moves all calls on, and how it waits.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "threads/connections/links.hpp"
#include "threads/executor/engine.hpp"
#include "threads/executor/put_cookie.hpp"
#include "threads/workers/waiting.hpp"
#include "topo/cache_line.hpp"

namespace trefoil {

class Executor;
class WorkerPart;

/// Drives one group, with its links, and its part of all executors. It goes round those that have
/// calls in flight; what comes for others is given to their parts. Worker 0 also watches their
/// peers. Used by one thread at a time.
class alignas(cache_line) Worker : private LinkUser {
  public:
    /// `in_caller`: in the thread that waits for a call. `rank` of `ranks`: as cards number them.
    Worker(std::size_t number, bool in_caller, Engine& engine, Rank rank, Rank ranks);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    Links& links() { return links_; }

    // While it does not work.
    void add(Executor& executor);
    void remove(Executor& executor) noexcept;
    /// What was broken in the order in which it was found, the first ones.
    const std::vector<BrokenConnection>& broken_so_far() const { return broken_; }

    /// An executor has a call in flight. By the thread that issued it.
    void enlist(WorkerPart& part) noexcept {
        if (!part_is_listed(part)) {
            list(part);
        }
    }

    /// Returns false when `until()`; true when an executor has failed and is to be settled.
    template <typename Until>
    bool work(const Until& until) noexcept {
        waiting_.reset();
        begin_work();
        // Changes are counted before until() looks: it may wait for one, too.
        for (count_changes(); !until() && !trouble_; count_changes()) {
            if (advance() || spin()) {
                if (was_idle_) {
                    goes_on();
                }
            } else {
                idle();
            }
        }
        end_work();
        return std::exchange(trouble_, false);
    }
    /// The same by one thread for several workers, in turns.
    template <typename Until>
    static bool work_in_turns(std::span<Worker* const> team, const Until& until) noexcept {
        for (Worker* const worker : team) {
            worker->waiting_.reset();
            worker->begin_work();
            worker->count_changes();
        }
        while (!until() && !any_trouble(team)) {
            if (advance_in_turns(team)) {
                for (Worker* const worker : team) {
                    worker->goes_on();
                }
            } else {
                idle_in_turns(team);
            }
            for (Worker* const worker : team) {
                worker->count_changes();
            }
        }
        bool trouble = false;
        for (Worker* const worker : team) {
            worker->end_work();
            trouble |= std::exchange(worker->trouble_, false);
        }
        return trouble;
    }
    /// Does once all that can be done now, and looks after calls that do not go on. False: nothing
    /// has moved, not even words between ranks. `trouble`: an executor has failed and is to be
    /// settled.
    bool round(bool& trouble) noexcept;
    /// At most one executor has calls in flight, or has had any when it last looked.
    bool has_one_executor() const noexcept {
        return parts_.size() <= 1 && new_work_.load(std::memory_order_relaxed) == nullptr;
    }
    /// Takes what has come at its group, and says what is to be said, whatever calls do meanwhile.
    /// False: nothing has moved.
    bool listen() noexcept { return poll(); }

  private:
    struct Part {
        Executor* executor = nullptr;
        WorkerPart* part = nullptr;
        // By worker 0, for count_idle_time().
        std::uint64_t moves = 0;  ///< the executor's when it last looked
        std::chrono::steady_clock::time_point asked{};
        std::chrono::steady_clock::time_point idle_since{};
    };
    static bool part_is_listed(const WorkerPart& part) noexcept;
    void list(WorkerPart& part) noexcept;
    void take_new_work() noexcept;
    bool has_done_its_work(const Part& part) noexcept;
    WorkerPart* part_of(const PutCookie& cookie) noexcept;
    bool take(const Event& event) noexcept;

    void wired(Wire& wire) override;
    void peer_left(const ChannelKey& key) override;
    void letter(Rank from, Port own, std::uint64_t tag, std::string_view text) override;
    void broken(const BrokenConnection& connection) override;

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
    void note_completed(WorkerPart& part) noexcept;
    void count_changes() noexcept { changes_seen_ = engine_.wake_up().changes(); }
    static bool any_trouble(std::span<Worker* const> team) noexcept;
    static bool advance_in_turns(std::span<Worker* const> team) noexcept;
    static void idle_in_turns(std::span<Worker* const> team) noexcept;
    bool advance() noexcept;
    bool poll() noexcept;
    bool take_arrivals() noexcept;
    bool flag_has_come() const noexcept;
    bool spin() noexcept;
    void goes_on() noexcept;
    void idle() noexcept;
    void wait() noexcept;
    void look_after_calls(std::chrono::steady_clock::time_point now) noexcept;
    bool count_idle_time(std::chrono::steady_clock::time_point now, bool nobody_waits) noexcept;
    bool refused() const noexcept;

    const std::size_t number_;
    const bool in_caller_;
    Engine& engine_;
    PortGroup* const group_;
    Links links_;
    std::vector<Part> all_;    ///< by what cookies call an executor; null where there is none
    std::vector<Part> parts_;  ///< that have calls in flight, or had some
    std::unordered_map<std::uint64_t, WorkerPart*> by_key_;  ///< of channels
    /// Failures of communicators that do not exist here yet.
    std::vector<std::pair<std::uint64_t, std::pair<Rank, std::string>>> early_letters_;
    /// Offers of persistent calls, for lanes that do not exist here yet: by key.
    struct EarlyOffer {
        std::uint64_t key = 0;
        Rank from = 0;
        Port own;
        std::string letter;
    };
    std::vector<EarlyOffer> early_offers_;
    std::vector<BrokenConnection> broken_;
    std::atomic<WorkerPart*> new_work_{nullptr};  ///< a stack
    Waiting waiting_;
    ProgressTurns progress_turns_;    ///< the caller's
    std::uint32_t changes_seen_ = 0;  ///< WakeUp::changes() before it last looked
    bool is_traced_ = false;
    // For the timeline: since when it works, and what calls it has seen complete since then.
    std::int64_t begun_ = 0;
    std::uint64_t completed_ = 0;
    const char* completed_text_ = "";
    bool trouble_ = false;
    bool moved_ = false;        ///< anything, in the last poll
    bool calls_moved_ = false;  ///< in the last round a call may have gone on
    bool was_idle_ = false;     ///< in the round before
    std::size_t turn_ = 0;      ///< of a team's first one: who slept last
    std::uint32_t rounds_ = 0;  ///< while there are several executors
    std::chrono::steady_clock::time_point next_check_{};
    std::chrono::steady_clock::time_point looked_{};  ///< when it last looked at the clock
    std::array<Event, 64> events_;
};

}  // namespace trefoil
