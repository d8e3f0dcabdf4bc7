// SPDX-License-Identifier: BSD-3-Clause
// Words between ranks outside the schedule: greetings, farewells, acknowledgements, reports.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/notification.hpp"
#include "threads/executor/peer_reports.hpp"
#include "threads/executor/put_cookie.hpp"
#include "threads/executor/reports.hpp"
#include "threads/executor/wake_up.hpp"

namespace trefoil {

/// Polls one group once and takes what comes; false: nothing came.
using Listen = std::function<bool(std::size_t group)>;

/// Says control messages and takes those that come. A group's channels are spoken through, and its
/// messages taken, by the group's owner.
class ControlMessages {
  public:
    /// Takes memory of the groups for the reports. Throws what they throw.
    ControlMessages(Channels& channels, WakeUp& wake_up);

    PutResult say(std::size_t out_channel, Control kind, std::uint32_t number = 0) noexcept;
    /// Says why this communicator has failed, through a channel that has not heard it yet. The
    /// first cause that a group is given stands.
    PutResult say_failure(std::size_t out_channel, const Cause& cause) noexcept;
    /// A report has come: tells the group's other peers at once, whatever this rank's call still
    /// does. Best effort: some may have to be told later.
    void pass_failure_on(std::size_t group) noexcept;
    /// Tells all peers of a group that this rank is stalled. False: the last report has not left
    /// yet. Best effort: a channel that refuses it, or has no place left, is passed over.
    bool report_stall(std::size_t group, const StallReport& report) noexcept;
    /// One that was queued has left, or has failed.
    void sent(const PutCookie& cookie) noexcept;
    /// Some are queued still. Of interest to the thread that greets, which then polls all groups.
    bool under_way() const noexcept { return under_way_.load(std::memory_order_relaxed) > 0; }

    /// How many came that are not of the channel's peer: they lack its proof, and are dropped.
    std::uint32_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

    /// A notification has come that is a control message. True: the call may go on by it.
    bool take(std::size_t group, const Notification& notification) noexcept;
    const PeerReports& reports() const noexcept { return reports_; }

  private:
    /// What a group's reports are put from.
    struct Source {
        std::vector<std::byte> unregistered;
        LocalMemory memory;
        std::uint32_t stalls_under_way = 0;
        std::size_t failure_bytes = 0;  ///< 0: there is none
        Control failure_kind = Control::failed;
        bool passed_on = false;
    };

    PutResult put(std::size_t out_channel, const void* source, std::size_t area_offset,
                  std::size_t bytes, std::uint64_t notification, const PutCookie& cookie) noexcept;

    Channels& channels_;
    WakeUp& wake_up_;
    PeerReports reports_;
    std::vector<Source> sources_;              ///< by group
    std::atomic<std::uint32_t> under_way_{0};  ///< counts only; orders nothing
    std::atomic<std::uint32_t> refused_{0};    ///< the same
};

/// Tells every peer the same, but for those that have left or are gone: a transport would try to
/// connect to them anew, each time in vain. (So it does to a peer that only receives from this
/// rank, which cannot say that it leaves.) `say` says it through one outgoing channel. Best effort,
/// bounded.
void tell_peers(const Channels& channels, const Listen& listen,
                const std::function<PutResult(std::size_t out_channel)>& say,
                const std::vector<Rank>& gone) noexcept;

}  // namespace trefoil
