// SPDX-License-Identifier: BSD-3-Clause
// A schedule of the user's that has been proved: an algorithm like those of the registry.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// Immutable and thread-safe; stays where it is. Its name, "schedule-" and a hash of the text,
/// tells schedules apart: ranks that bring different texts are found out by their first call.
class UserSchedule {
  public:
    /// Reads and proves. Throws Error(invalid_argument): it cannot be read, is for another
    /// collective, or the verifier finds an error, which is told in its words; Error(unsupported):
    /// the proof would need too much memory, or the schedule mixes pulls and messages with data.
    UserSchedule(Collective collective, std::string_view json);
    UserSchedule(const UserSchedule&) = delete;
    UserSchedule& operator=(const UserSchedule&) = delete;

    const Algorithm& algorithm() const { return algorithm_; }
    const Torus& torus() const { return set_.torus; }
    Rank root() const { return set_.root; }

  private:
    std::string name_, shapes_;
    ScheduleSet set_;
    Algorithm algorithm_;
};

}  // namespace trefoil
