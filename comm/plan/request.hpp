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
    /// each of them.
    std::size_t count = 0;
    Rank root = 0;
    /// The vector variant: elements of each rank's block, and where it begins; in alltoall those of
    /// the blocks received, and so in exchanges with neighbours, in the order of their slots.
    /// Empty, or as many as ranks. Displacements may be given without counts: blocks of equal size
    /// that do not lie side by side.
    std::span<const std::size_t> counts = {}, displacements = {};
    /// Alltoallv: the same of the blocks sent. Only the sender and the receiver of a block know its
    /// count, so what all ranks must decide alike cannot depend on these lists, nor on the two
    /// above. Gather and scatter whose counts the root alone knows have both sides' lists, too:
    /// where the root has all blocks, its list says how long they are, and each other rank's list
    /// says so of its own block. The other side's list has the own block's count twice: for the
    /// root, and for the rank itself.
    std::span<const std::size_t> send_counts = {}, send_displacements = {};
    /// Alltoall: the blocks sent lie where those received will. Allreduce, and a reduce at its
    /// root, which alone knows it: input and output are one.
    bool in_place = false;
    /// An operation of the user's in place of `op`; then `type` is ignored for its elements' size.
    std::shared_ptr<const UserOperation> user = {};

    std::size_t element_bytes() const;
    const CollectiveTraits& traits() const { return traits_of(collective); }
    /// No rank need know all counts; the sender and the receiver of a block know its count:
    /// alltoallv, and a gather or scatter with lists for both sides.
    bool counts_in_pairs() const {
        return !counts.empty() && (traits().blocks_both_ways() || !send_counts.empty());
    }
    /// Of the whole vector (all blocks).
    std::size_t vector_elements(const Torus& torus) const;
    /// Of the longest block; of the vector where there are no blocks.
    std::size_t longest() const;
    bool averages() const {
        return traits().reduces && user == nullptr && op == Operation::average;
    }
    /// Reductions give the same bits in whatever order ranks are combined.
    bool same_in_any_order() const {
        return traits().reduces && user == nullptr && trefoil::same_in_any_order(type, op);
    }
    bool commutes() const { return user == nullptr || user->commutes; }
    /// Of a rank's block, or of the one of a neighbour's slot.
    std::size_t count_of(Rank rank) const { return counts.empty() ? count : counts[rank]; }
    std::size_t displacement_of(Rank rank) const;
    /// This request with the blocks that are sent in the place of those received, where there are
    /// lists for both sides.
    Request sending() const;
    /// This request with the lists of the side where one rank or all have the blocks of all:
    /// scatter's are sent.
    Request of_all_blocks() const {
        return traits().in.holders == Holders::root ? sending() : *this;
    }
    /// A rank that completes the call has heard from every rank in it. Where blocks differ in size
    /// some may be empty, and their messages are not sent.
    bool synchronises() const { return traits().synchronises && counts.empty(); }
    /// "bcast of 7 float from root 3".
    std::string text() const;

    friend bool operator==(const Request& a, const Request& b);
    std::uint64_t hash() const;
};

/// How far the buffers of a rank reach, in bytes from their beginning. 0: it has no such buffer.
struct BufferBytes {
    std::size_t send = 0, recv = 0;
};
BufferBytes buffer_bytes(const Request& request, const Torus& torus, Rank rank);

}  // namespace trefoil
