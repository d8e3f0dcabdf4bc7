// SPDX-License-Identifier: BSD-3-Clause
// A nonblocking call while the program computes: how much of the shorter one is hidden.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/perf/in_flight.hpp"

namespace trefoil::tool {

struct OverlapOptions {
    double test_every = 0;     ///< seconds of computation between two tests of the call; 0: none
    bool one_process = false;  ///< all ranks are threads of this process
};

/// Microseconds until all ranks are done, as a barrier tells; the median over iterations of the
/// slowest rank.
struct Overlap {
    double communication = 0;  ///< begin and wait, nothing between them
    double computation = 0;    ///< alone
    double together = 0;       ///< begin, compute, wait
    double processors = 0;     ///< processor time of all ranks in an iteration, by their cores
    int cores = 0;             ///< that the ranks may use; of one host
    std::optional<std::int64_t> wrong;  ///< elements of the checked calls; nothing: not checked

    /// Nobody can be faster than the longest of the three.
    double bound() const;
    /// The share of the shorter part that went on during the longer one: 1 at best.
    double hidden() const;
};

/// Collective; complete on all ranks. The computation adds and multiplies in memory of its own, so
/// often that it takes about as long as the communication. Sets another algorithm.
Overlap measure_overlap(Session& session, Workload& workload, const OverlapOptions& how,
                        const Repetitions& repetitions, std::uint64_t& salt);

}  // namespace trefoil::tool
