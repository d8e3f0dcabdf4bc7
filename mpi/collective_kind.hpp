// SPDX-License-Identifier: BSD-3-Clause
// The collectives that the layer knows, and why a call may go to the MPI below instead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trefoil::mpi {

enum class Kind : std::uint8_t {
    allreduce,
    reduce,
    reduce_scatter,
    reduce_scatter_block,
    allgather,
    allgatherv,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    barrier
};
inline constexpr std::array<std::string_view, 12> kind_names{
    "allreduce", "reduce",     "reduce_scatter", "reduce_scatter_block",
    "allgather", "allgatherv", "bcast",          "gather",
    "gatherv",   "scatter",    "scatterv",       "barrier"};
inline constexpr std::size_t kinds = kind_names.size();

constexpr std::size_t index(Kind kind) {
    return static_cast<std::size_t>(kind);
}

/// Whether all ranks know the size of a call, so that they can decide by it: the blocks of gatherv
/// and scatterv are known at the root only.
constexpr bool size_is_shared(Kind kind) {
    return kind != Kind::gatherv && kind != Kind::scatterv && kind != Kind::barrier;
}

/// Each is seen alike by all ranks of the call; `arguments` may be seen by one alone, whose call is
/// wrong then.
enum class Reason : std::uint8_t {
    none,  ///< Trefoil runs the call
    switched_off,
    size,
    nothing_to_do,
    datatype,
    operation,
    one_rank,
    intercommunicator,
    several_worlds,
    tuning,       ///< tried out, or found to be faster
    unsupported,  ///< by the algorithm that was asked for, on this torus
    arguments
};
inline constexpr std::array<std::string_view, 12> reason_texts{
    "",
    "TREFOIL_MPI leaves this collective to MPI",
    "TREFOIL_MPI leaves this size to MPI",
    "no data",
    "a datatype that Trefoil does not reduce",
    "an operation that Trefoil does not run on this datatype",
    "one rank",
    "an intercommunicator",
    "ranks of several MPI_COMM_WORLDs",
    "TREFOIL_MPI_TUNE, in a trial or because MPI had been faster",
    "TREFOIL_ALGORITHM, or the order of the ranks in the torus, does not suit the operation",
    "wrong arguments, which MPI reports"};
inline constexpr std::size_t reasons = reason_texts.size();

inline constexpr std::size_t unknown_bytes = ~std::size_t{0};

/// What the arguments of a call say about it.
struct Verdict {
    Reason reason = Reason::none;
    /// The whole vector; where ranks have blocks, all blocks together.
    std::size_t bytes = unknown_bytes;
};

}  // namespace trefoil::mpi
