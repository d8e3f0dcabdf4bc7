// SPDX-License-Identifier: BSD-3-Clause
// How an executor waits, how long, and what it reports to.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "threads/executor/cause.hpp"
#include "threads/executor/peer_reports.hpp"
#include "threads/timeline/trace.hpp"
#include "threads/workers/waiting.hpp"
#include "topo/log/log.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// A process that does not run as it should.
struct ProcessNews {
    enum class State : std::uint8_t { ended, stopped };
    Rank rank = 0;
    State state = State::ended;
};

/// Calls are numbered in the order in which they are issued, whatever executor runs them.
class CallNumbers {
  public:
    /// The next one's; by the thread that issues.
    std::uint64_t next() noexcept {
        const std::uint64_t number = made() + 1;
        made_.store(number, std::memory_order_relaxed);
        return number;
    }
    /// So far. Any thread, for messages.
    std::uint64_t made() const noexcept { return made_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> made_{0};
};

struct ExecutorOptions {
    bool may_spin = false;
    std::chrono::milliseconds stall_warning{10'000};
    std::chrono::milliseconds timeout{120'000};
    /// What is wrong with the ranks' processes, as far as this host sees them: those that were
    /// found first come first. Called when nothing has happened for a while.
    std::function<std::vector<ProcessNews>()> look_at_processes;
    /// The process that is a rank: "process 4711 on host a".
    std::function<std::string(Rank)> process_text;
    /// Shared by the executors of one communicator; null: it has its own.
    std::shared_ptr<CallNumbers> numbers;
    std::shared_ptr<PeerReports> reports;
    /// It has failed, and those that share its calls are to fail, too. While the engine is held.
    std::function<void(const Cause&)> failed;
    /// Ends a registration of a port group's, whoever uses it; null where no call has any. While
    /// the engine is held.
    std::function<void(int group, std::uint64_t use)> close_registration;
    Progress progress{};             ///< called in the thread of run() and greet() while they wait
    std::shared_ptr<const Log> log;  ///< where stalls are told; null: the process's
    Trace* trace = nullptr;  ///< has a ring for each worker and outlives the executor; null: off
};

/// The longest sleep while a put waits to be tried again, or a peer connects.
inline constexpr std::chrono::microseconds busy_sleep{1000};

}  // namespace trefoil
