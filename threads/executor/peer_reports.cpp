// SPDX-License-Identifier: BSD-3-Clause
// Keeping what peers report.
#include "threads/executor/peer_reports.hpp"

#include <new>
#include <utility>

namespace trefoil {

void PeerReports::take(Rank peer, StallReport report) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        last_stalls_[peer] = {std::move(report), Clock::now()};
        stalls_.fetch_add(1, std::memory_order_relaxed);
    } catch (const std::bad_alloc&) {  // a better message is all that is lost
    }
}

void PeerReports::take(Rank peer, const Cause& cause) noexcept {
    const std::lock_guard lock(mutex_);
    if (!first_ || precedes(cause, first_->cause)) {
        try {
            first_ = {peer, cause};
        } catch (const std::bad_alloc&) {
            first_ = {peer, Cause{cause.status, cause.blame}};
        }
    }
    failure_has_come_.store(true, std::memory_order_relaxed);
}

std::optional<PeerReports::Failure> PeerReports::failure() const {
    const std::lock_guard lock(mutex_);
    return first_;
}

std::optional<PeerReports::Stall> PeerReports::stall_of(Rank peer) const {
    const std::lock_guard lock(mutex_);
    const auto found = last_stalls_.find(peer);
    return found == last_stalls_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Rank> PeerReports::stalled() const {
    const std::lock_guard lock(mutex_);
    std::vector<Rank> peers;
    for (const auto& [peer, stall] : last_stalls_) {
        peers.push_back(peer);
    }
    return peers;
}

}  // namespace trefoil
