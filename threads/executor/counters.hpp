// SPDX-License-Identifier: BSD-3-Clause
// Counting down what several workers may share.
#pragma once

#include <atomic>

namespace trefoil {

/// Takes one off; returns whether it was the last. Acquire and release: whoever takes the last one
/// sees what all others wrote before they took theirs. Where there is one worker only (not
/// `is_shared`) nobody else counts, and a store does, which is many times cheaper.
template <typename Count>
bool take_last(std::atomic<Count>& left, bool is_shared) noexcept {
    if (is_shared) {
        return left.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    const auto rest = static_cast<Count>(left.load(std::memory_order_relaxed) - 1);
    left.store(rest, std::memory_order_release);
    return rest == 0;
}

}  // namespace trefoil
