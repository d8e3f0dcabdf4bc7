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

void Failure::set_own(Status status, const std::string& text) noexcept {
    set(status, text, {own_, Evidence::own});
}

void Failure::set(Status status, const std::string& text, const Blame& blame) noexcept {
    try {
        set(Cause{status, blame, text});
    } catch (const std::bad_alloc&) {
        set(Cause{status, blame});
    }
}

void Failure::suspect(Status status, Rank accused, const std::string& what) noexcept {
    const Blame blame(accused, accused == Blame::nobody ? Evidence::none : Evidence::unreachable);
    try {
        Cause cause{status, blame, what};
        cause.tentative = true;
        set(cause);
    } catch (const std::bad_alloc&) {
        set(Cause{status, blame});
    }
}

void Failure::disagree(Rank peer, const Call& call, const char* what) noexcept {
    const Blame blame(peer, Evidence::disagrees);
    try {
        set(Cause{Status::mismatch, blame,
                  "rank " + std::to_string(peer) + " and rank " + std::to_string(own_) + " " +
                      what + "; rank " + std::to_string(own_) + "'s is " + call.text,
                  std::string("; ") + call.agreement});
    } catch (const std::bad_alloc&) {
        set(Cause{Status::mismatch, blame});
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
        cause_ = Cause{cause.status, cause.blame};
    }
    if (cause_.blame.finder == Blame::nobody) {
        cause_.blame.finder = own_;
    }
    if (cause_.blame.since == Blame::Time{}) {
        cause_.blame.since = std::chrono::system_clock::now();
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
