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
    alltoall,
    alltoallv,
    alltoallw,
    neighbor_allgather,
    neighbor_allgatherv,
    neighbor_alltoall,
    neighbor_alltoallv,
    neighbor_alltoallw,
    scan,
    exscan,
    barrier
};

struct KindTraits {
    Kind kind = Kind::barrier;
    std::string_view name;  ///< as TREFOIL_MPI and the report have it
    /// All ranks know the size of a call, so that they can decide by it. Not so of a barrier, nor
    /// where nobody, or only the root, knows all blocks.
    bool size_is_shared = true;
};
inline constexpr std::array<KindTraits, 22> kind_rows{
    {{Kind::allreduce, "allreduce"},
     {Kind::reduce, "reduce"},
     {Kind::reduce_scatter, "reduce_scatter"},
     {Kind::reduce_scatter_block, "reduce_scatter_block"},
     {Kind::allgather, "allgather"},
     {Kind::allgatherv, "allgatherv"},
     {Kind::bcast, "bcast"},
     {Kind::gather, "gather"},
     {Kind::gatherv, "gatherv", false},
     {Kind::scatter, "scatter"},
     {Kind::scatterv, "scatterv", false},
     {Kind::alltoall, "alltoall"},
     {Kind::alltoallv, "alltoallv", false},
     {Kind::alltoallw, "alltoallw", false},
     {Kind::neighbor_allgather, "neighbor_allgather"},
     {Kind::neighbor_allgatherv, "neighbor_allgatherv", false},
     {Kind::neighbor_alltoall, "neighbor_alltoall"},
     {Kind::neighbor_alltoallv, "neighbor_alltoallv", false},
     {Kind::neighbor_alltoallw, "neighbor_alltoallw", false},
     {Kind::scan, "scan"},
     {Kind::exscan, "exscan"},
     {Kind::barrier, "barrier", false}}};
inline constexpr std::size_t kinds = kind_rows.size();

constexpr std::size_t index(Kind kind) {
    return static_cast<std::size_t>(kind);
}

/// No rank's call of this kind is over before it has heard of all others.
constexpr bool synchronises(Kind kind) {
    return kind == Kind::allreduce || kind == Kind::reduce_scatter ||
           kind == Kind::reduce_scatter_block || kind == Kind::allgather ||
           kind == Kind::alltoall || kind == Kind::barrier;
}

/// A receiver that gives more room than is sent, which MPI forbids, gets its data from many an MPI.
/// So ranks may have different sizes.
constexpr bool may_give_room(Kind kind) {
    return kind == Kind::bcast || kind == Kind::gather || kind == Kind::scatter;
}

/// Some rank gives counts for all. (So it does for reduce_scatter, whose calls differ by type.)
constexpr bool has_lists(Kind kind) {
    const std::string_view name = kind_rows[index(kind)].name;
    return name.ends_with('v') || name.ends_with('w');
}

/// All ranks decide by the size of a call, alike even where it is wrong; and to find it out costs
/// little.
constexpr bool goes_by_size(Kind kind) {
    return kind_rows[index(kind)].size_is_shared && !may_give_room(kind) && !has_lists(kind);
}

constexpr bool is_among_neighbours(Kind kind) {
    return kind_rows[index(kind)].name.starts_with("neighbor_");
}

constexpr bool kind_rows_are_in_order() {
    for (std::size_t i = 0; i < kinds; ++i) {
        if (index(kind_rows[i].kind) != i) {
            return false;
        }
    }
    return true;
}
static_assert(kind_rows_are_in_order(), "rows stand in the order of the enumeration");

/// Why the MPI below runs a call. All ranks come to the same reason, but for `arguments`, which one
/// rank may find alone: then its call is wrong.
enum class Reason : std::uint8_t {
    none,  ///< Trefoil runs the call
    switched_off,
    size,
    early,  ///< the communicator has had too few calls yet
    nothing_to_do,
    datatype,
    operation,
    one_rank,
    intercommunicator,
    several_worlds,
    topology,      ///< its neighbours are not those of a torus
    tuning,        ///< tried out, or found to be faster
    no_gain,       ///< does not block, is not tried out, and has nothing to gain
    going,         ///< the communicator is being freed
    not_set_up,    ///< Trefoil lacks something for this communicator; all ranks know
    unsupported,   ///< by the algorithm that was asked for, on this torus; or a device's memory
    disagreement,  ///< ranks have made different calls before; all know
    arguments
};
inline constexpr std::array<std::string_view, 18> reason_texts{
    "",
    "TREFOIL_MPI leaves this collective to MPI",
    "TREFOIL_MPI leaves this size to MPI",
    "one of the communicator's first calls (TREFOIL_MPI_EARLY)",
    "no data",
    "a datatype that Trefoil does not reduce",
    "an operation that Trefoil does not run on this datatype",
    "one rank",
    "an intercommunicator",
    "ranks of several MPI_COMM_WORLDs",
    "no Cartesian communicator that is periodic in each dimension, all of size 3 or more",
    "TREFOIL_MPI_TUNE, in a trial or because Trefoil had not been faster",
    "TREFOIL_MPI_TUNE, as such calls that do not block gain nothing on one host",
    "a communicator that is being freed",
    "Trefoil could not set up the communicator; a warning says why",
    "TREFOIL_ALGORITHM, or the order of the ranks in the torus, does not suit the operation; or "
    "the buffers are a device's memory",
    "ranks had made different calls on this communicator, or one had wrong arguments",
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
