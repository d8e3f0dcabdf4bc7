// SPDX-License-Identifier: BSD-3-Clause
// The memory of frames, and their order.
#include "bench/relay/frames.hpp"

namespace trefoil::relay {

Frames::Frames(std::size_t slots)
    : memory_(new std::byte[slots * slot_bytes]),  // not touched before it is used
      frames_(slots) {
    free_.reserve(slots);
    for (std::size_t slot = slots; slot-- > 0;) {
        free_.push_back(static_cast<Slot>(slot));
    }
}

Slot Frames::take() {
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
}

Slot Frames::take_due() {
    const Slot slot = due_.top().slot;
    due_.pop();
    return slot;
}

}  // namespace trefoil::relay
