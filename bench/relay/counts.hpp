// SPDX-License-Identifier: BSD-3-Clause
// What the relay tells of itself: frames, lost ones, how late they left, its processor time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/relay/wire.hpp"

namespace trefoil::relay {

class Counts {
  public:
    explicit Counts(Time start) : start_(start) {}

    void sent(std::size_t bytes, Time late);
    void lost(std::uint64_t frames) { lost_ += frames; }

    /// One line of JSON: {"seconds", "cpu_seconds", "frames", "bytes", "lost", "late_us": [[us,
    /// frames], ...]}; all since the start.
    std::string json(Time now) const;

  private:
    // So few counts that the JSON fits into a socket's buffer.
    static constexpr std::size_t exact_us = 1000, coarse_us = 100;
    static constexpr std::size_t longest_us = 20000;  ///< the last count is of all above
    Time start_;
    std::uint64_t frames_ = 0, bytes_ = 0, lost_ = 0;
    std::array<std::uint64_t, longest_us + 1> late_us_{};
};

}  // namespace trefoil::relay
