// SPDX-License-Identifier: BSD-3-Clause
// Random collective calls, the arguments of all ranks matching.
#pragma once

#include <string>

#include "layouts.hpp"

namespace trefoil::mpi::test {

enum class Way : std::uint8_t { blocking, nonblocking, persistent };

/// A communicator as its members know it.
struct Where {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, ranks = 1;
    bool is_inter = false;
    /// Whom its collectives between neighbours are with; none: they have no topology.
    std::vector<int> neighbours{};
};

/// The operations that a program makes itself.
struct OwnOperations {
    MPI_Op sum = MPI_OP_NULL, compose = MPI_OP_NULL;  ///< the second does not commute
    MPI_Datatype map = MPI_DATATYPE_NULL;             ///< of what `compose` takes
    void make();
    void free();
};

class CollectiveCall {
  public:
    /// `step` is the same on all ranks, and of this call alone.
    CollectiveCall(const Where& where, const OwnOperations& own, std::uint64_t step, Way way);
    ~CollectiveCall();
    CollectiveCall(const CollectiveCall&) = delete;
    CollectiveCall& operator=(const CollectiveCall&) = delete;

    std::string name() const;
    /// Runs or begins it; makes it, if it is persistent.
    void begin(Digest& digest, MPI_Request* request);
    /// After it has ended: what this rank has got.
    void look(Digest& digest) const;

  private:
    struct Side {
        Buffer buffer;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        int count = 0;
        std::vector<int> counts, places;
        std::vector<MPI_Aint> far_places;
        std::vector<MPI_Datatype> types;
    };
    enum class Kind : std::uint8_t;

    int items(int from, int to) const;
    MPI_Datatype kept(MPI_Datatype type);
    /// Of this rank's own data.
    std::uint64_t seed_of(Draw& own) const {
        return hash_of({own.bits(), step_, static_cast<std::uint64_t>(where_.rank)});
    }
    void describe(Side& side, Draw& own, int all, int blocks);
    void describe_list(Side& side, Draw& own, int peers, bool sends);
    void describe_types(Side& side, Draw& own, int peers, bool sends);
    void prepare_reduction(Draw& draw, const OwnOperations& own);
    void fill_values(Buffer& buffer, int elements, std::uint64_t seed) const;
    int call(MPI_Request* request);

    Where where_;
    Way way_;
    std::uint64_t step_;
    Kind kind_;
    int root_ = 0, unit_ = 1, items_ = 1;
    /// The basic type alone, on all ranks: MPI's own choose their algorithms by the sizes of each
    /// rank's type, and hang where they differ.
    bool is_plain_ = false;
    bool in_place_ = false, backwards_ = false, is_symmetric_ = false, looks_ = true;
    MPI_Datatype basic_ = MPI_INT;
    MPI_Op op_ = MPI_SUM;
    std::vector<int> counts_;  ///< of a reduce_scatter
    Side send_, recv_;
    std::vector<MPI_Datatype> made_;
};

}  // namespace trefoil::mpi::test
