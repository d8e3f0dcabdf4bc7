// SPDX-License-Identifier: BSD-3-Clause
// One direction of a link with distance: when a frame that enters it comes out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trefoil::relay {

/// Nanoseconds of a clock that never goes back.
using Time = std::int64_t;

/// Frames follow each other at the wire's rate and take its delay. Pure: knows no clock.
class Wire {
  public:
    /// `bits_per_second` 0: frames take no time of their own.
    Wire(double bits_per_second, Time delay) : bits_per_second_(bits_per_second), delay_(delay) {}

    struct Passage {
        Time head;  ///< the first bit is out: a node that passes the frame on may begin
        Time tail;  ///< the last bit is out: a node to which it is addressed may read it
    };

    /// A frame comes to the wire at `now`, no earlier than the one before. It waits for those
    /// before it.
    Passage enter(Time now, std::size_t bytes);

  private:
    double bits_per_second_;
    Time delay_;
    Time free_at_ = 0;
};

}  // namespace trefoil::relay
