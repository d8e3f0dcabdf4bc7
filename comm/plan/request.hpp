// SPDX-License-Identifier: BSD-3-Clause
// What a collective call asks for: everything but the addresses of its vectors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "threads/kernels/reduce.hpp"

namespace trefoil {

struct Request {
    Collective collective = Collective::allreduce;
    DataType type = DataType::int8;
    Operation op = Operation::sum;
    /// Elements: of the vector; where ranks have blocks, of each block, unless `counts` says for
    /// each rank.
    std::size_t count = 0;
    Rank root = 0;
    /// By rank, in elements; empty, or as many as ranks. Displacements without counts, too, are
    /// possible: blocks of equal size that do not lie side by side. In alltoall the blocks
    /// received.
    std::span<const std::size_t> counts = {}, displacements = {};
    /// Alltoall with counts: the blocks sent, likewise. What a rank sends to another is for these
    /// two to agree on: nothing that all ranks must decide alike may depend on any of the lists.
    std::span<const std::size_t> send_counts = {}, send_displacements = {};
    /// Alltoall: the blocks sent lie where those received will.
    bool in_place = false;
    /// An operation of the user's in place of `op`; then `type` is ignored for its elements' size.
    std::shared_ptr<const UserOperation> user = {};
    /// What the communicator is told to use for the collective; null: the cheapest.
    const Algorithm* algorithm = nullptr;
    BuildOptions options = {};

    std::size_t element_bytes() const;
    bool has_blocks() const { return trefoil::has_blocks(collective); }
    bool exchanges() const { return collective == Collective::alltoall; }
    /// Alltoall whose counts differ from rank to rank, and are known to two ranks each.
    bool exchanges_unevenly() const { return exchanges() && !counts.empty(); }
    /// Of the whole vector (all blocks).
    std::size_t vector_elements(Rank ranks) const;
    /// Of the longest block; of the vector where there are no blocks.
    std::size_t longest() const;
    bool commutes() const { return user == nullptr || user->commutes; }
    std::size_t count_of(Rank rank) const { return counts.empty() ? count : counts[rank]; }
    std::size_t displacement_of(Rank rank) const;
    /// This request with the blocks that alltoall sends in the place of those it receives.
    Request sending() const;
    /// A rank that completes the call has heard from every rank in it, whatever the vectors'
    /// lengths: allreduce, barrier, and reduce_scatter, allgather and alltoall of equal blocks.
    bool synchronises() const;
    /// "bcast of 7 float from root 3".
    std::string text() const;

    friend bool operator==(const Request& a, const Request& b);
    std::uint64_t hash() const;
};

}  // namespace trefoil
