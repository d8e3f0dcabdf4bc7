// SPDX-License-Identifier: BSD-3-Clause
// The verifier: executes the schedules of all ranks over symbolic buffers and proves what they
// compute.
#pragma once

#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace trefoil {

/// What the proof found. `errors` is empty when the schedules are correct; otherwise each entry
/// names part, step, rank and what is wrong there (the first few; a broken schedule breaks
/// everywhere).
struct Verification {
    std::vector<std::string> errors;
    /// All ranks end with the same expression tree (up to commuting the two operands of one
    /// reduction) for every block: floating-point results are bitwise identical.
    bool identical_results = false;
    bool ok() const { return errors.empty(); }
};

/// Proves, for schedules[r] = the schedule of rank r:
///  - every send is matched by exactly one receive of the peer in the same part and step, on the
///    opposite port, with equal block counts in every application; no rank sends to itself
///  - extents and moves stay inside the buffer; no two sources are read from undefined scratch; the
///    places that one message or the replaces of one step write do not overlap where order would
///    matter
///  - exactly-once: no reduction ever adds a contribution that the target already holds, and at the
///  end
///    every vector block of every rank holds each rank's contribution once (allreduce); for a
///    barrier, every rank has heard, directly or through others, from every rank
///  - progress: no message waits for a later step; all parts have equally many steps on all ranks
Verification verify(const Torus& torus, Collective collective,
                    const std::vector<Schedule>& schedules);

/// Builds all schedules and verifies them.
Verification verify(const Torus& torus, const Algorithm& algorithm);

}  // namespace trefoil
