// SPDX-License-Identifier: BSD-3-Clause
// The cookie of a put: what its completion is for.
#pragma once

#include <cstdint>

namespace trefoil {

/// A put either belongs to a step of a running segment, whose token its completion spends, or it is
/// a control message, which names its outgoing channel.
class PutCookie {
  public:
    static constexpr PutCookie of_step(std::uint32_t place, std::uint32_t step) {
        return PutCookie(std::uint64_t{place} << 32 | step);
    }
    static constexpr PutCookie of_control(std::size_t out_channel) {
        return PutCookie(control_bit | out_channel);
    }
    constexpr explicit PutCookie(std::uint64_t bits) : bits_(bits) {}

    constexpr std::uint64_t bits() const { return bits_; }
    constexpr bool is_control() const { return (bits_ & control_bit) != 0; }
    constexpr std::size_t channel() const { return static_cast<std::size_t>(bits_ & ~control_bit); }
    /// In SegmentQueue.
    constexpr std::uint32_t place() const { return static_cast<std::uint32_t>(bits_ >> 32); }
    constexpr std::uint32_t step() const { return static_cast<std::uint32_t>(bits_); }

  private:
    static constexpr std::uint64_t control_bit = std::uint64_t{1} << 63;

    std::uint64_t bits_;
};

}  // namespace trefoil
