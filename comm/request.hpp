// SPDX-License-Identifier: BSD-3-Clause
// What a collective call asks for: everything but the addresses of its vectors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "threads/reduce.hpp"

namespace trefoil {

struct Request {
    Collective collective = Collective::allreduce;
    DataType type = DataType::int8;
    Operation op = Operation::sum;
    /// Elements: of the vector; in divided collectives of each rank's block, unless `counts` says
    /// for each rank.
    std::size_t count = 0;
    Rank root = 0;
    /// By rank, in elements; empty, or as many as ranks. Displacements without counts, too, are
    /// possible: blocks of equal size that do not lie side by side.
    std::span<const std::size_t> counts = {}, displacements = {};
    /// An operation of the user's in place of `op`; then `type` is ignored for its elements' size.
    std::shared_ptr<const UserOperation> user = {};
    /// What the communicator is told to use for the collective; null: the cheapest.
    const Algorithm* algorithm = nullptr;
    BuildOptions options = {};

    std::size_t element_bytes() const;
    /// Of the whole vector (all blocks).
    std::size_t vector_elements(Rank ranks) const;
    bool commutes() const { return user == nullptr || user->commutes; }
    std::size_t count_of(Rank rank) const { return counts.empty() ? count : counts[rank]; }
    std::size_t displacement_of(Rank rank) const;
    /// A rank that completes the call has heard from every rank in it, whatever the vectors'
    /// lengths: allreduce, barrier, and reduce_scatter and allgather of equal blocks.
    bool synchronises() const;
    /// "bcast of 7 float from root 3".
    std::string text() const;

    friend bool operator==(const Request& a, const Request& b);
    std::uint64_t hash() const;
};

}  // namespace trefoil
