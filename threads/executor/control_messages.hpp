// SPDX-License-Identifier: BSD-3-Clause
// Words between ranks outside the schedule: acknowledgements, reports of failures and of stalls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "threads/connections/letter_box.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/notification.hpp"
#include "threads/executor/peer_reports.hpp"
#include "threads/executor/reports.hpp"
#include "threads/executor/wake_up.hpp"

namespace trefoil {

/// Engine::listen_until() of the engine that this thread holds.
using ListenUntil =
    std::function<bool(const std::function<bool()>& over, std::chrono::steady_clock::time_point)>;

/// Says and takes such words. Reports are letters, tagged with the communicator's number; those of
/// a group are sent and taken by its owner.
class ControlMessages {
  public:
    /// `boxes`: by group; null where nobody writes letters. All outlive this.
    /// `reports`: where what peers report is kept; null: here.
    ControlMessages(Channels& channels, WakeUp& wake_up, std::vector<LetterBox*> boxes,
                    std::shared_ptr<PeerReports> reports = {})
        : reports_(reports != nullptr ? std::move(reports) : std::make_shared<PeerReports>()),
          channels_(channels),
          wake_up_(wake_up),
          boxes_(std::move(boxes)),
          told_(channels.groups.size()),
          passed_on_(channels.groups.size()),
          early_words_(channels.groups.size()) {}

    /// Says why this communicator has failed, to all peers of a group that have not heard it yet.
    /// But for those that are gone. Best effort.
    void say_failure(std::size_t group, const Cause& cause, std::span<const Rank> gone) noexcept;
    /// There is another cause, which nobody has been told.
    void tell_anew() noexcept {
        for (auto& told : told_) {
            told.clear();
        }
    }
    /// A report has come: tells the group's other peers at once, whatever this rank's call still
    /// does. Best effort: some may have to be told later.
    void pass_failure_on(std::size_t group) noexcept;
    /// Tells all peers of a group that this rank is stalled. Best effort: a peer that has not taken
    /// what was said to it before is passed over.
    void report_stall(std::size_t group, const StallReport& report) noexcept;

    /// A notification of channel `in_channel` is an acknowledgement. True: the call may go on by
    /// it.
    bool acknowledged(std::size_t group, std::uint32_t in_channel,
                      const Notification& notification) noexcept;
    /// There are new channels at the group: for words that have come before them.
    void take_early_words(std::size_t group) noexcept;
    /// A letter of a peer, with its kind.
    void take_letter(Rank peer, std::string_view letter) noexcept;

    /// How many came that are not of the channel's peer: they lack its proof, and are dropped.
    std::uint32_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
    const PeerReports& reports() const noexcept { return *reports_; }

  private:
    struct EarlyWord {
        std::uint32_t in_channel = 0;
        Notification notification;
    };
    bool keep_word(std::size_t group, std::uint32_t in_channel,
                   const Notification& notification) noexcept;
    /// Those that this rank has channels with, through ports of the group.
    std::set<std::pair<Rank, int>> peers_of(std::size_t group) const;
    /// And the neighbours, who pass it on: some may wait for a rank that has no channel yet.
    std::set<std::pair<Rank, int>> all_to_be_told(std::size_t group) const;
    bool send(std::size_t group, Rank peer, Port port, LetterKind kind, std::string_view text,
              Urgency urgency);

    std::shared_ptr<PeerReports> reports_;
    Channels& channels_;
    WakeUp& wake_up_;
    std::vector<LetterBox*> boxes_;
    std::vector<std::set<std::pair<Rank, int>>> told_;  ///< of the failure, by group
    std::vector<char> passed_on_;                       ///< by group
    std::vector<std::vector<EarlyWord>> early_words_;   ///< by group
    std::atomic<std::uint32_t> refused_{0};             ///< counts only; orders nothing
};

}  // namespace trefoil
