// SPDX-License-Identifier: BSD-3-Clause
// What one rank brings to a collective: its buffers, and what each must hold before and after.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/schedule/collective.hpp"

namespace trefoil::tool {

/// Elements of the block from one rank to another; of a block that belongs to one rank, both are
/// that rank. Of what rank r sends to its i-th of n neighbours, both are r * n + i.
using BlockCount = std::function<std::size_t(Rank from, Rank to)>;

/// A collective as one rank calls it.
struct RankCall {
    Collective collective = Collective::allreduce;
    std::size_t count = 0;  ///< elements; of one block where ranks have blocks
    bool in_place = false;  ///< where the collective allows it: in gather, only at the root
    Rank root = 0;          ///< of rooted collectives
    Rank rank = 0, ranks = 1;
    /// The vector variant, and the elements between its blocks where it takes displacements. Empty:
    /// all blocks have `count` elements.
    BlockCount block_count = {};
    std::size_t gap = 0;
    /// Of exchanges with neighbours: who they are, in the order of the call.
    std::vector<Rank> neighbours = {};
};

enum class Buffer : std::uint8_t { send, receive };

enum class Content : std::uint8_t {
    input,     ///< what this rank contributes; where nothing is reduced, the same as result
    result,    ///< exact, over all ranks
    untouched  ///< what was there before
};

/// Elements of a buffer that belong together: block `block` of the vector, or all of it. Alltoall:
/// the block from one rank to another, numbered by both. To a neighbour: as BlockCount. bcast:
/// numbered by the root.
struct RoleRange {
    Buffer buffer = Buffer::send;
    Content content = Content::input;
    std::size_t first = 0, count = 0;
    Rank block = 0;
};

/// Where the blocks of one side of the vector variant lie, by rank.
struct RoleBlocks {
    std::vector<std::size_t> counts, displacements;
};

struct Role {
    std::size_t count = 0;                          ///< as the call wants it
    std::size_t send_count = 0, receive_count = 0;  ///< elements of the buffers
    bool send_in_place = false;                     ///< send is TREFOIL_IN_PLACE, or ...
    bool receive_in_place = false;                  ///< ... receive is (scatter)
    std::vector<RoleRange> before;  ///< filled; the rest of both buffers is untouched content
    std::vector<RoleRange> after;   ///< required; what it leaves out may hold anything
    RoleBlocks sent, received;      ///< of the vector variant; empty elsewhere
};

/// A rank that a rooted collective gives nothing gets a buffer all the same, which must stay as it
/// was.
Role role_of(const RankCall& call);

/// Elements of the whole vector: all blocks of one rank where ranks have blocks.
std::size_t whole_count(Collective collective, std::size_t count, const Torus& torus);

/// Random counts for alltoallv, the same for a seed: three blocks in ten are empty, and one in ten
/// is up to eight times as long as `most`, which the others may be; in place as much goes either
/// way.
BlockCount random_counts(std::uint64_t seed, std::size_t most, bool in_place);
/// What a rank sends on average, itself included.
std::size_t mean_count(const BlockCount& block_count, Rank ranks);

/// What the most loaded rank must send or receive, in vectors: busbw / algbw of nccl-tests.
double bus_factor(Collective collective, Rank ranks);

}  // namespace trefoil::tool
