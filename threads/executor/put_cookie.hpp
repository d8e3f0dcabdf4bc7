// SPDX-License-Identifier: BSD-3-Clause
// The cookie of a put: what its completion is for.
#pragma once

#include <cstdint>

namespace trefoil {

/// A put either belongs to a step of a running segment, whose token its completion spends, or it is
/// a control message, perhaps with a report. All name their outgoing channel.
class PutCookie {
  public:
    static constexpr PutCookie of_step(std::size_t out_channel, std::uint32_t place,
                                       std::uint32_t step) {
        return PutCookie(bits_of(out_channel) | std::uint64_t{place} << 32 | step);
    }
    static constexpr PutCookie of_control(std::size_t out_channel) {
        return PutCookie(control_bit | bits_of(out_channel));
    }
    /// Its source is the group's one for stall reports.
    static constexpr PutCookie of_stall_report(std::size_t out_channel) {
        return PutCookie(control_bit | report_bit | bits_of(out_channel));
    }
    constexpr explicit PutCookie(std::uint64_t bits) : bits_(bits) {}

    constexpr std::uint64_t bits() const { return bits_; }
    /// Made here. A failure may be nobody's.
    constexpr bool is_put() const { return (bits_ & put_bit) != 0; }
    constexpr bool is_control() const { return (bits_ & control_bit) != 0; }
    constexpr bool is_stall_report() const { return (bits_ & report_bit) != 0; }
    constexpr std::size_t channel() const {
        return static_cast<std::size_t>((bits_ & (put_bit - 1)) >> channel_shift);
    }
    /// In SegmentQueue.
    constexpr std::uint32_t place() const { return static_cast<std::uint32_t>(bits_ >> 32) & 0xff; }
    constexpr std::uint32_t step() const { return static_cast<std::uint32_t>(bits_); }

  private:
    static constexpr std::uint64_t control_bit = std::uint64_t{1} << 63;
    static constexpr std::uint64_t report_bit = std::uint64_t{1} << 62;
    static constexpr std::uint64_t put_bit = std::uint64_t{1} << 61;
    static constexpr int channel_shift = 40;  // 21 bits of it; 8 for the place, 32 for the step

    static constexpr std::uint64_t bits_of(std::size_t out_channel) {
        return put_bit | std::uint64_t{out_channel} << channel_shift;
    }

    std::uint64_t bits_;
};

}  // namespace trefoil
