// SPDX-License-Identifier: BSD-3-Clause
// Words between ranks outside the schedule: greetings, farewells, acknowledgements, reports.
#pragma once

#include <atomic>
#include <functional>

#include "threads/executor/channels.hpp"
#include "threads/executor/notification.hpp"
#include "threads/executor/wake_up.hpp"

namespace trefoil {

/// Polls one group once and takes what comes; false: nothing came.
using Listen = std::function<bool(std::size_t group)>;

/// Says control messages and takes those that come. A group's channels are spoken through, and its
/// messages taken, by the group's owner.
class ControlMessages {
  public:
    ControlMessages(Channels& channels, WakeUp& wake_up) : channels_(channels), wake_up_(wake_up) {}

    PutResult say(std::size_t out_channel, Control kind, std::uint32_t number = 0) noexcept;
    PutResult say(std::size_t out_channel, const StallReport& report, std::uint32_t piece) noexcept;
    /// One that was queued has left.
    void sent() noexcept { under_way_.fetch_sub(1, std::memory_order_relaxed); }
    /// Some are queued still. Of interest to the thread that greets, which then polls all groups.
    bool under_way() const noexcept { return under_way_.load(std::memory_order_relaxed) > 0; }

    /// A notification has come that is a control message or a piece of a report.
    void take(std::size_t group, const Notification& notification) noexcept;

  private:
    PutResult put(std::size_t out_channel, std::uint64_t notification) noexcept;

    Channels& channels_;
    WakeUp& wake_up_;
    std::atomic<std::uint32_t> under_way_{0};  ///< counts only; orders nothing
};

/// Tells every peer the same, but for those that have left: a transport would try to connect to
/// them anew, each time in vain. (So it does to a peer that only receives from this rank, which
/// cannot say that it leaves.) Best effort, bounded.
void tell_peers(const Channels& channels, ControlMessages& controls, const Listen& listen,
                Control kind) noexcept;

}  // namespace trefoil
