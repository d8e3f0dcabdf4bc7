// SPDX-License-Identifier: BSD-3-Clause
// A time that nobody can beat, as a fraction with its proof.
#pragma once

#include <cstdint>
#include <vector>

namespace trefoil {

/// A time of throughput, in vectors at the rate of a whole link: what long vectors take when
/// start-up times and hops are nothing. It is a fraction, exact, and its proof is a partition of
/// the ranks. With C the sum of rates (1: whole) of the links that cross between parts and n ranks:
///
/// - allreduce: 2 (parts - 1) / C, or 1 / C of the links from part 0 into part 1 (`one_way`)
/// - bcast: 1 / C of the links into part 1, which lacks the root; reduce: out of it
/// - allgather: (n - |part 1|) / n / C of the links into part 1; reduce_scatter: out of it
/// - scatter: |part 1| / n / C of the links into part 1, which lacks the root; gather: out of it
/// - alltoall: |part 0| |part 1| / n / C of the links into part 1; or without a partition, the sum
///   of all distances / n / (sum of the rates of all links)
///
/// Why that holds for allreduce: each element is reduced somewhere and comes back from there. Into
/// and out of each part but the one where that happens it crosses once, whatever happens inside.
struct ThroughputBound {
    std::int64_t numerator = 0, denominator = 1;
    std::vector<int> part_of;  ///< by rank; empty: distances are the proof
    bool one_way = false;
    double vectors() const {
        return static_cast<double>(numerator) / static_cast<double>(denominator);
    }
};

/// Exact.
bool exceeds(const ThroughputBound& a, const ThroughputBound& b);

/// By how much what is found may exceed the bound before more trees, or more parts, are tried.
inline constexpr double close_to_bound = 1 / 0.975;
/// The same where each tree costs a message per piece, so that few are better than many.
inline constexpr double few_trees_are_close = 1 / 0.9;

}  // namespace trefoil
