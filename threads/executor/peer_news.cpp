// SPDX-License-Identifier: BSD-3-Clause
// Keeping what a peer says of itself.
#include "threads/executor/peer_news.hpp"

namespace trefoil {

namespace {
constexpr std::uint32_t report_bits = 9 * Notification::report_pieces;
constexpr std::uint64_t all_pieces = (1U << Notification::report_pieces) - 1;
}  // namespace

void PeerNews::take(Control kind, std::uint32_t number) noexcept {
    switch (kind) {
        case Control::hello:
            greeted_ = true;
            break;
        case Control::leaving:
            left_.store(true, std::memory_order_relaxed);
            break;
        case Control::mismatch:
        case Control::failed:
            failed_.store(static_cast<std::uint32_t>(kind), std::memory_order_relaxed);
            break;
        case Control::connecting:
            connecting_.store(number, std::memory_order_relaxed);
            break;
        case Control::taken:
            break;  // of the opposite channel, not of the peer
    }
}

void PeerNews::take_report(const Notification& notification) noexcept {
    std::uint64_t word = report_.load(std::memory_order_relaxed);
    if (word >> report_bits == all_pieces) {
        word = 0;  // the first piece of the next report
    }
    StallReport report{word & ((std::uint64_t{1} << report_bits) - 1)};
    report.take(notification);
    const std::uint32_t piece = notification.index - Notification::index_limit;
    word = (word >> report_bits | 1U << piece) << report_bits | report.bits;
    report_.store(word, std::memory_order_relaxed);
}

std::optional<StallReport> PeerNews::report() const {
    const std::uint64_t word = report_.load(std::memory_order_relaxed);
    if (word >> report_bits != all_pieces) {
        return std::nullopt;
    }
    return StallReport{word & ((std::uint64_t{1} << report_bits) - 1)};
}

}  // namespace trefoil
