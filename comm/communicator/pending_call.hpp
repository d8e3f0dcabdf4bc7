// SPDX-License-Identifier: BSD-3-Clause
// A call that its communicator has been asked for and need not have completed yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "comm/communicator/persistent_call.hpp"
#include "comm/plan/plan.hpp"
#include "comm/plan/request.hpp"
#include "comm/plan/used_bytes.hpp"
#include "threads/executor/running_call.hpp"

namespace trefoil {

/// How long a call holds its buffers: see BuffersInFlight.
enum class Holds : std::uint8_t {
    nothing,
    until_ended,  ///< by its request
    until_over    ///< nobody has its request any more
};

/// Stays where it is until its communicator ends. May be started again when it is over.
struct PendingCall {
    RunningCall running;
    std::shared_ptr<const Plan> plan;  ///< null: this rank is alone
    const void* send = nullptr;
    void* recv = nullptr;
    std::shared_ptr<const void> operation;       ///< the user's that it uses, while it is in flight
    std::unique_ptr<PersistentCall> persistent;  ///< null: it is started once
    bool complete = true;  ///< nothing of it is in flight, as nothing had to move
    UsedBytes buffers;     ///< that it uses
    /// Set by the thread that issues; any thread lowers it when the request ends. Orders nothing:
    /// what else is here is changed by the thread that issues alone, while no other one has the
    /// request.
    std::atomic<Holds> holds{Holds::nothing};
    /// For a rank alone, and for TREFOIL_CHECK. Its lists are `counts` ... below.
    Request request;
    std::vector<std::size_t> counts, displacements, send_counts, send_displacements;

    /// Keeps the request with copies of its lists.
    void keep(const Request& asked);
};

}  // namespace trefoil
