// SPDX-License-Identifier: BSD-3-Clause
// Keeping the first cause of a failure.
#include "threads/executor/failure.hpp"

#include <new>

namespace trefoil {

static_assert(static_cast<int>(Status::success) == 0, "Failure counts on it");

void Failure::set(Status status, const std::string& text) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (status_.load(std::memory_order_relaxed) != 0) {
            return;
        }
        try {
            text_ = text;
        } catch (const std::bad_alloc&) {
            text_.clear();
        }
        status_.store(static_cast<int>(status), std::memory_order_release);
    }
    wake_up_.announce();
}

std::string Failure::text() const {
    const std::lock_guard lock(mutex_);
    return text_;
}

}  // namespace trefoil
