// SPDX-License-Identifier: BSD-3-Clause
// Asking for all handlers, and restoring those that have changed.
#include "backend/system/kept_handlers.hpp"

namespace trefoil {

KeptHandlers::KeptHandlers() noexcept {
    for (int number = 1; number < NSIG; ++number) {
        sigaction(number, nullptr, &before_[static_cast<std::size_t>(number)]);
    }
}

KeptHandlers::~KeptHandlers() {
    for (int number = 1; number < NSIG; ++number) {
        const struct sigaction& before = before_[static_cast<std::size_t>(number)];
        struct sigaction now {};
        // Those of the C library's own (32, 33) nobody may ask for.
        if (sigaction(number, nullptr, &now) == 0 &&
            (now.sa_sigaction != before.sa_sigaction || now.sa_flags != before.sa_flags)) {
            sigaction(number, &before, nullptr);
        }
    }
}

}  // namespace trefoil
