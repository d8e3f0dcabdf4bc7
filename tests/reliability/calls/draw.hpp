// SPDX-License-Identifier: BSD-3-Clause
// Calls that are drawn from a seed, alike on all ranks and whatever the library does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "tests/reliability/calls/elements.hpp"

namespace trefoil::calls {

enum class Collective : std::uint8_t {
    allreduce,
    reduce,
    scan,
    exscan,
    reduce_scatter_block,
    reduce_scatter,
    allgather,
    allgatherv,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    alltoall,
    alltoallv,
    neighbor_allgather,
    neighbor_allgatherv,
    neighbor_alltoall,
    neighbor_alltoallv,
    barrier,
};
constexpr std::size_t collectives = 20;

struct Traits {
    const char* name;
    const char* base;  ///< the collective whose algorithms run it
    bool reduces = false, rooted = false;
    bool blocks = false;      ///< a count is of one of many blocks
    bool vector = false;      ///< blocks have counts of their own, and mostly displacements
    bool in_place = false;    ///< can be
    bool neighbours = false;  ///< blocks are of neighbours
};
const Traits& traits_of(Collective collective);

enum class Form : std::uint8_t { blocking, nonblocking, persistent };

/// What makes a call one that must fail, on all ranks alike.
enum class Mistake : std::uint8_t {
    none,
    type,           ///< there is no such type
    operation,      ///< there is no such operation
    unsuitable,     ///< bits of floating point
    average,        ///< in a scan
    low_root,       ///< -1
    high_root,      ///< as many as there are ranks
    no_send,        ///< NULL
    both_in_place,  ///< both buffers
    overlap,        ///< of the buffers
    no_counts,      ///< NULL
    no_operation,   ///< own elements, but an operation of Trefoil's
    wrong_type,     ///< an own operation, but a type of Trefoil's
    huge,           ///< more bytes than a size_t can count
    no_comm,        ///< NULL
};
constexpr std::size_t mistakes = 15;
const char* name_of(Mistake mistake);

struct Call {
    Collective collective = Collective::allreduce;
    Form form = Form::blocking;
    Mistake mistake = Mistake::none;
    Elements elements;
    std::uint32_t root = 0;  ///< modulo the ranks
    std::size_t bytes = 0;   ///< of the vector, or of all blocks of a rank, about
    std::size_t gap = 0;     ///< elements between blocks
    bool in_place = false;
    bool same_pointer = false;  ///< in place, said by equal pointers where that is allowed
    bool base_name = false;  ///< the algorithm is set for the base, which may not run this variant
    std::uint64_t salt = 0;  ///< of values and of blocks' counts
    std::uint32_t algorithm = 0;
};

/// Weighted to small calls; up to about 1 MiB.
std::size_t draw_bytes(std::mt19937& shared);
Call draw_call(std::mt19937& shared);
/// One that must fail.
Call draw_mistake(std::mt19937& shared);
/// Another size of the same call.
void draw_again(std::mt19937& shared, Call& call);

/// In words, on so many ranks.
std::string text_of(const Call& call, const std::string& algorithm, std::size_t count, int ranks);

}  // namespace trefoil::calls
