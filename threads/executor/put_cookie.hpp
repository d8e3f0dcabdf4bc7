// SPDX-License-Identifier: BSD-3-Clause
// The cookie of a put: what its completion is for.
#pragma once

#include <cstdint>

namespace trefoil {

/// A put of a running segment, whose completion is an event of its step. It names the executor and
/// the outgoing channel. Cookies of connections (ConnectionCookie) have other upper bits.
class PutCookie {
  public:
    static constexpr std::uint32_t executor_limit = 1U << 16;
    static constexpr std::uint32_t channel_limit = 1U << 18;
    static constexpr std::uint32_t place_limit = 1U << 3;  ///< of segments in flight
    static constexpr std::uint32_t step_limit = 1U << 24;
    /// The put is of no step: a permission.
    static constexpr std::uint32_t no_step = step_limit - 1;

    constexpr PutCookie(std::uint32_t executor, std::uint32_t out_channel, std::uint32_t place,
                        std::uint32_t step)
        : bits_(mark | std::uint64_t{executor} << executor_shift |
                std::uint64_t{out_channel} << channel_shift | std::uint64_t{place} << place_shift |
                step) {}
    constexpr explicit PutCookie(std::uint64_t bits) : bits_(bits) {}

    constexpr std::uint64_t bits() const { return bits_; }
    /// Made here. A failure may be nobody's.
    constexpr bool is_one() const { return (bits_ & mask) == mark; }
    /// In Engine.
    constexpr std::uint32_t executor() const {
        return static_cast<std::uint32_t>(bits_ >> executor_shift) & (executor_limit - 1);
    }
    constexpr std::uint32_t channel() const {
        return static_cast<std::uint32_t>(bits_ >> channel_shift) & (channel_limit - 1);
    }
    /// In SegmentQueue.
    constexpr std::uint32_t place() const {
        return static_cast<std::uint32_t>(bits_ >> place_shift) & (place_limit - 1);
    }
    constexpr std::uint32_t step() const {
        return static_cast<std::uint32_t>(bits_) & (step_limit - 1);
    }

  private:
    static constexpr std::uint64_t mask = std::uint64_t{7} << 61;
    static constexpr std::uint64_t mark = std::uint64_t{1} << 61;
    static constexpr int place_shift = 24, channel_shift = 27, executor_shift = 45;

    std::uint64_t bits_;
};

}  // namespace trefoil
