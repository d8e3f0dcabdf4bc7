// SPDX-License-Identifier: BSD-3-Clause
// Keeping what a peer says of itself.
#include "threads/executor/peer_news.hpp"

namespace trefoil {

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
        case Control::stalled:
            break;  // of the opposite channel; of its call
    }
}

}  // namespace trefoil
