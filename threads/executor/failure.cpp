// SPDX-License-Identifier: BSD-3-Clause
// Keeping the first cause of a failure.
#include "threads/executor/failure.hpp"

#include <new>

namespace trefoil {

static_assert(static_cast<int>(Status::success) == 0, "Failure counts on it");

void Failure::set(const Cause& cause) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (status_.load(std::memory_order_relaxed) != 0) {
            return;
        }
        keep(cause);
    }
    wake_up_.announce();
}

void Failure::set(Status status, const std::string& text) noexcept {
    try {
        set(Cause{status, Cause::nobody, text});
    } catch (const std::bad_alloc&) {
        set(Cause{status});
    }
}

void Failure::suspect(Status status, Rank accused, const std::string& what) noexcept {
    try {
        Cause cause{status, accused, what};
        cause.tentative = true;
        set(cause);
    } catch (const std::bad_alloc&) {
        set(Cause{status, accused});
    }
}

void Failure::disagree(Rank peer, Rank own, const Call& call, const char* does) noexcept {
    try {
        set(Cause{Status::mismatch, peer,
                  "rank " + std::to_string(peer) + " " + does + " rank " + std::to_string(own) +
                      "'s " + call.text,
                  std::string("; ") + call.agreement});
    } catch (const std::bad_alloc&) {
        set(Cause{Status::mismatch, peer});
    }
}

void Failure::replace(const Cause& cause) noexcept {
    const std::lock_guard lock(mutex_);
    keep(cause);
}

void Failure::keep(const Cause& cause) noexcept {
    try {
        cause_ = cause;
    } catch (const std::bad_alloc&) {
        cause_ = Cause{cause.status, cause.culprit};
    }
    status_.store(static_cast<int>(cause.status), std::memory_order_release);
}

std::string Failure::text() const {
    const std::lock_guard lock(mutex_);
    return cause_.text + cause_.own;
}

Cause Failure::cause() const {
    const std::lock_guard lock(mutex_);
    return cause_;
}

}  // namespace trefoil
