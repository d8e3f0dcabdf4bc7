// SPDX-License-Identifier: BSD-3-Clause
// The verifier: executes the schedules of all ranks over symbolic buffers and proves what they
// compute.
#pragma once

#include <string>
#include <vector>

#include "algorithms/analysis/goal.hpp"
#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// What the proof found. `errors` is empty when the schedules are correct; otherwise each entry
/// names part, step, rank and what is wrong there (the first few; a broken schedule breaks
/// everywhere).
struct Verification {
    std::vector<std::string> errors;
    /// All ranks end with the same expression tree (up to commuting the two operands of one
    /// reduction) for every block: floating-point results are bitwise identical.
    bool identical_results = false;
    /// Every result was reduced in rank order from the left (reductions only).
    bool order_preserving = false;
    /// Every rank hears, directly or through others, from every rank; where there is data, in each
    /// part alone, since empty parts are left out. Other calls are acknowledged
    /// (algorithms/schedule/acknowledgements.hpp).
    bool synchronises = false;
    bool ok() const { return errors.empty(); }
};

/// Proves, for schedules[r] = the schedule of rank r:
///  - form: all ranks have the same parts, with the same blocks and equally many steps
///  - messages: every send is matched by exactly one receive of the peer in the same part and step,
///    on the opposite port, with equal block counts in every application; no rank sends to itself;
///    the port leads along a shortest way around a dimension in which the two ranks differ
///  - memory: extents and moves stay inside the buffer and pair blocks of equal size; undefined
///    scratch is never read; one message writes no block twice, and no replace overwrites what
///    another message of the same step has written
///  - exactly-once: no reduction adds a contribution that the target already holds, and at the end
///    every vector block that is a result (on every rank, at its owner or at the root, as the
///    collective says) holds each rank's contribution once, or is untouched what its owner or the
///    root had; for a barrier, every rank has heard, directly or through others, from every rank;
///    for alltoall, every rank has from each one, itself too, the block that was for it
///  - pulls: the peer has opened its vector to this rank before; messages order each pull after the
///    write that it is to see and before the next one, also where input and output are the same
///    memory; and no rank completes before it has heard that all pulls from it are over
///  - progress: follows from the matching. A rank waits in step s only for sends of step s, which
///    each peer issues as soon as its own step s-1 is complete; by induction every step ends.
/// Throws Error(unsupported) when the proof would need more than about 4 GiB.
Verification verify(const Torus& torus, const Goal& goal, const std::vector<Schedule>& schedules);
inline Verification verify(const Torus& torus, Collective collective,
                           const std::vector<Schedule>& schedules) {
    return verify(torus, Goal{collective, 0, {}}, schedules);
}

/// Builds all schedules and verifies them.
Verification verify(const Torus& torus, const Algorithm& algorithm,
                    const BuildOptions& options = {});

}  // namespace trefoil
