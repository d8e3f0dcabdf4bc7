// SPDX-License-Identifier: BSD-3-Clause
// How an executor waits, how long, and what it reports to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "threads/timeline/trace.hpp"
#include "threads/workers/waiting.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

struct ExecutorOptions {
    bool may_spin = false;
    std::chrono::milliseconds stall_warning{10'000};
    std::chrono::milliseconds timeout{120'000};
    std::chrono::milliseconds greeting_timeout{30'000};  ///< for the first message of a channel
    /// Called when nothing has happened for a second; returns what is wrong with a peer, or "".
    std::function<std::string()> check_peers;
    Progress progress{};             ///< called in the thread of run() and greet() while they wait
    std::shared_ptr<const Log> log;  ///< where stalls are told; null: the process's
    Trace* trace = nullptr;  ///< has a ring for each worker and outlives the executor; null: off
};

/// The longest sleep while a put waits to be tried again, or a peer connects.
inline constexpr std::chrono::microseconds busy_sleep{1000};

}  // namespace trefoil
