// SPDX-License-Identifier: BSD-3-Clause
// Waiting without the power to be woken.
#include "backend/ports/port_group.hpp"

#include <thread>

#include "backend/ports/powers.hpp"

namespace trefoil {

void PortGroup::wait(std::chrono::microseconds longest) {
    if (powers_.waking != nullptr) {
        powers_.waking->wait(longest);
    } else {
        std::this_thread::sleep_for(std::min(longest, nap_slice(longest)));
    }
}

void PortGroup::wake() {
    if (powers_.waking != nullptr) {
        powers_.waking->wake();
    }
}

}  // namespace trefoil
