// SPDX-License-Identifier: BSD-3-Clause
// What of the input is not yet where the result is built: it is copied when it is worked on, and
// what is only sent on is not copied at all.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "comm/plan/vector_map.hpp"

namespace trefoil {

/// Of one segment, told step by step of each part what happens to the places of the result.
class LateCopies {
  public:
    LateCopies() = default;
    /// `copies`: all that would be made before the first step, into one space. The input keeps what
    /// they read until the segment is complete.
    explicit LateCopies(const std::vector<Transfer>& copies);

    bool empty() const { return pending_.empty(); }
    /// What is pending of a run, and is no more.
    void take(const Run& run, std::vector<Transfer>& taken);
    /// The run is about to be worked on: adds the copies that bring it there.
    void copy(const Run& run, std::vector<ProgramOp>& ops);
    /// The same for what a step has received. What is reduced into is brought chunk by chunk, and
    /// what is replaced not at all.
    std::vector<ProgramOp> with_copies(std::vector<ProgramOp> ops, std::size_t element_bytes);
    /// Some of the run is pending.
    bool has_any_of(const Run& run) const;
    /// Of the run some bytes have been copied and some have not.
    bool is_mixed(const Run& run) const;
    /// From where the bytes of a run can be read: the input, as far as they have not been copied.
    void append_sources(const Run& run, std::vector<Run>& sources) const;

  private:
    struct Copy {
        Location source;
        std::size_t bytes = 0;
    };
    std::uint32_t space_ = Location::output;
    std::map<std::size_t, Copy> pending_;  ///< by where it goes
};

/// Shorter copies, on average, are made before the first step: finding out when they are needed
/// would cost more than they do.
inline constexpr std::size_t least_late_copy = std::size_t{8} << 10;
/// What is copied at a time before it is reduced into, so that it is still in the first-level cache
/// then.
inline constexpr std::size_t late_chunk_bytes = std::size_t{16} << 10;

}  // namespace trefoil
