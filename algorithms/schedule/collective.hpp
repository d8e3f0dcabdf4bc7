// SPDX-License-Identifier: BSD-3-Clause
// The collectives: one row of traits each, from which everything else follows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "topo/torus.hpp"

namespace trefoil {

enum class Collective : std::uint8_t {
    allreduce,           ///< every rank ends with the reduction of all vectors
    reduce_scatter,      ///< rank r ends with block r of the reduction of all vectors
    allgather,           ///< rank r begins with block r, every rank ends with all blocks
    bcast,               ///< every rank ends with the root's vector
    reduce,              ///< the root ends with the reduction of all vectors
    gather,              ///< rank r begins with block r, the root ends with all blocks
    scatter,             ///< the root begins with all blocks, rank r ends with block r
    alltoall,            ///< rank r begins with a block for each rank, ends with one from each
    barrier,             ///< no data: every rank ends having heard from every rank
    scan,                ///< rank r ends with the reduction of the vectors of ranks 0 ... r
    exscan,              ///< rank r > 0 ends with that of ranks 0 ... r-1
    neighbor_allgather,  ///< every rank ends with the blocks of its neighbours in the torus
    neighbor_alltoall    ///< every rank begins with a block for each, and ends with one from each
};

/// The order of a rank's neighbours in the torus, which is that of MPI's Cartesian topologies: slot
/// 2j is the neighbour in the negative direction of dimension j, slot 2j + 1 the one in the
/// positive direction. In a dimension of size 2 both are the same rank, in one of size 1 the rank
/// itself; the slots stay two. What a rank sends to slot s arrives there in slot opposite_slot(s),
/// as the rank lies in the opposite direction from there.
constexpr Port port_of_slot(int slot) {
    return Port{slot ^ 1};
}
constexpr int slot_of(Port port) {
    return port.index ^ 1;
}
constexpr int opposite_slot(int slot) {
    return slot ^ 1;
}

/// What a rank brings to a collective, or takes from it.
enum class Data : std::uint8_t {
    none,
    vector,           ///< a vector that may be cut at will
    own_block,        ///< the block that belongs to the rank
    rank_blocks,      ///< a block for each rank
    neighbour_blocks  ///< a block for each neighbour in the torus: port_of_slot()
};

enum class Holders : std::uint8_t { all, root, all_but_first };

/// Whose contributions what comes out on rank r is the reduction of.
enum class Prefix : std::uint8_t {
    none,       ///< all ranks'
    inclusive,  ///< those of ranks 0 ... r
    exclusive   ///< those of ranks 0 ... r-1
};

/// What goes into a collective, or comes out of it, and on which ranks.
struct CollectiveSide {
    Data data = Data::none;
    Holders holders = Holders::all;

    constexpr bool held_by(Rank rank, Rank root) const {
        return data != Data::none &&
               (holders == Holders::root ? rank == root
                                         : rank > 0 || holders != Holders::all_but_first);
    }
};

/// The argument that TREFOIL_IN_PLACE may stand for, on ranks that bring data and take some.
enum class InPlace : std::uint8_t {
    never,
    always,  ///< there is one buffer, for both
    send,
    receive
};

/// One collective. What the verifier demands, where blocks lie, which arguments a call has and what
/// `trefoil perf` fills and checks is worked out from its row.
struct CollectiveTraits {
    Collective collective = Collective::barrier;
    std::string_view name;  ///< as users type it
    CollectiveSide in, out;
    /// What comes out is a reduction of what the ranks brought; else it is what one rank had.
    bool reduces = false;
    Prefix prefix = Prefix::none;
    /// A rank that completes a call has heard from every rank in it, whatever the vectors' lengths,
    /// but in the vector variant.
    bool synchronises = false;
    std::string_view vector_variant = {};  ///< the call in which ranks' blocks differ in size
    InPlace in_place = InPlace::send;

    constexpr bool has_data() const { return in.data != Data::none || out.data != Data::none; }
    constexpr bool rooted() const {
        return in.holders == Holders::root || out.holders == Holders::root;
    }
    /// Ranks have blocks; elsewhere there is a vector that is cut at will.
    constexpr bool has_blocks() const {
        return in.data == Data::rank_blocks || out.data == Data::rank_blocks || with_neighbours();
    }
    constexpr bool with_neighbours() const { return out.data == Data::neighbour_blocks; }
    /// Alltoall and the exchanges with neighbours: each block is for one rank, or a few. A schedule
    /// has blocks to send and to receive.
    constexpr bool blocks_both_ways() const {
        return (in.data == Data::rank_blocks && out.data == Data::rank_blocks) || with_neighbours();
    }
    /// Each rank has one of the blocks of a schedule: where they do not go both ways.
    constexpr bool blocks_have_owners() const { return has_blocks() && !blocks_both_ways(); }
    constexpr bool is_prefix() const { return prefix != Prefix::none; }
    /// How many ranks, from rank 0 on, contribute to what comes out on `rank`.
    constexpr Rank contributors(Rank rank, Rank ranks) const {
        return !is_prefix() ? ranks : rank + (prefix == Prefix::inclusive ? 1 : 0);
    }
    /// Several ranks get the same sums, which then should have the same bits.
    constexpr bool replicates_results() const {
        return reduces && !is_prefix() && out.data == Data::vector && out.holders == Holders::all;
    }
    /// Of how many blocks the vector of all blocks is made; of those received where they go both
    /// ways. 0: there are none.
    std::uint32_t blocks(const Torus& torus) const {
        return !has_blocks()
                   ? 0
                   : static_cast<std::uint32_t>(with_neighbours() ? torus.ports() : torus.ranks());
    }
    /// How many blocks a rank sends where they go both ways.
    std::uint32_t sent_blocks(const Torus& torus) const {
        return in.data == Data::own_block ? 1 : blocks(torus);
    }
    /// How many vector blocks a part of a schedule has; 0: as many as the algorithm likes.
    std::uint32_t vector_blocks(const Torus& torus) const {
        return blocks(torus) + (blocks_both_ways() ? sent_blocks(torus) : 0);
    }
    /// Of the `vector_blocks` blocks of a part, those that are the vector: received where they go
    /// both ways, and behind those to be sent.
    constexpr std::uint32_t received_of(std::uint32_t vector_blocks) const {
        return !blocks_both_ways()          ? vector_blocks
               : in.data == Data::own_block ? vector_blocks - 1
                                            : vector_blocks / 2;
    }
};

namespace detail {

inline constexpr CollectiveSide nothing{}, vector_of_all{Data::vector, Holders::all},
    vector_of_root{Data::vector, Holders::root},
    vector_of_all_but_first{Data::vector, Holders::all_but_first},
    block_of_all{Data::own_block, Holders::all}, blocks_of_all{Data::rank_blocks, Holders::all},
    blocks_of_root{Data::rank_blocks, Holders::root},
    blocks_of_neighbours{Data::neighbour_blocks, Holders::all};

inline constexpr std::array<CollectiveTraits, 13> collective_rows{{
    {.collective = Collective::allreduce,
     .name = "allreduce",
     .in = vector_of_all,
     .out = vector_of_all,
     .reduces = true,
     .synchronises = true},
    {.collective = Collective::reduce_scatter,
     .name = "reduce_scatter",
     .in = blocks_of_all,
     .out = block_of_all,
     .reduces = true,
     .synchronises = true,
     .vector_variant = "reduce_scatter"},
    {.collective = Collective::allgather,
     .name = "allgather",
     .in = block_of_all,
     .out = blocks_of_all,
     .synchronises = true,
     .vector_variant = "allgatherv"},
    {.collective = Collective::bcast,
     .name = "bcast",
     .in = vector_of_root,
     .out = vector_of_all,
     .in_place = InPlace::always},
    {.collective = Collective::reduce,
     .name = "reduce",
     .in = vector_of_all,
     .out = vector_of_root,
     .reduces = true},
    {.collective = Collective::gather,
     .name = "gather",
     .in = block_of_all,
     .out = blocks_of_root,
     .vector_variant = "gatherv"},
    {.collective = Collective::scatter,
     .name = "scatter",
     .in = blocks_of_root,
     .out = block_of_all,
     .vector_variant = "scatterv",
     .in_place = InPlace::receive},
    {.collective = Collective::alltoall,
     .name = "alltoall",
     .in = blocks_of_all,
     .out = blocks_of_all,
     .synchronises = true,
     .vector_variant = "alltoallv"},
    {.collective = Collective::barrier,
     .name = "barrier",
     .in = nothing,
     .out = nothing,
     .synchronises = true,
     .in_place = InPlace::never},
    {.collective = Collective::scan,
     .name = "scan",
     .in = vector_of_all,
     .out = vector_of_all,
     .reduces = true,
     .prefix = Prefix::inclusive},
    {.collective = Collective::exscan,
     .name = "exscan",
     .in = vector_of_all,
     .out = vector_of_all_but_first,
     .reduces = true,
     .prefix = Prefix::exclusive},
    {.collective = Collective::neighbor_allgather,
     .name = "neighbor_allgather",
     .in = block_of_all,
     .out = blocks_of_neighbours,
     .vector_variant = "neighbor_allgatherv",
     .in_place = InPlace::never},
    {.collective = Collective::neighbor_alltoall,
     .name = "neighbor_alltoall",
     .in = blocks_of_neighbours,
     .out = blocks_of_neighbours,
     .vector_variant = "neighbor_alltoallv",
     .in_place = InPlace::never},
}};

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < collective_rows.size(); ++i) {
        if (static_cast<std::size_t>(collective_rows[i].collective) != i) {
            return false;
        }
    }
    return true;
}
static_assert(rows_are_in_order(), "rows stand in the order of the enumeration");

}  // namespace detail

inline constexpr std::size_t collective_count = detail::collective_rows.size();

constexpr const CollectiveTraits& traits_of(Collective collective) {
    return detail::collective_rows[static_cast<std::size_t>(collective)];
}
constexpr std::string_view to_string(Collective collective) {
    return traits_of(collective).name;
}
/// All of them, in the order in which they are listed to users.
std::span<const Collective> collectives();
/// "allreduce, reduce_scatter, ..."
std::string collective_names();
/// Throws Error(not_found) that offers the nearest names.
Collective find_collective(std::string_view name);

}  // namespace trefoil
