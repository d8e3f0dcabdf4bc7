// SPDX-License-Identifier: BSD-3-Clause
// The collectives between neighbours of a Cartesian communicator that is a torus: periodic in every
// dimension, each of size 3 or more. MPI and Trefoil have the neighbours in the same order.
#include TREFOIL_MPI_ENTRIES  // the host's way in

#include "mpi/exchange_calls.hpp"

using namespace trefoil::mpi;

namespace {

struct NeighborAllgather : CollectiveCall {
    static constexpr Kind kind = Kind::neighbor_allgather;
    const void* send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void* recv;
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    MPI_Comm comm;
    std::optional<Side> one{}, all{};
    std::size_t elements = 0;  ///< of all blocks that are received
    std::size_t block = 0;     ///< bytes
    Room one_room{}, all_room{};
    const void* source = nullptr;
    std::byte* target = nullptr;
    bool unpacks = false;

    Verdict decide(const ShadowCommunicator& c) {
        const std::size_t peers = c.neighbours();
        if (peers == 0) {
            return {Reason::topology};
        }
        one = side_of(send, send_count, send_type, comm);
        all = side_of(recv, recv_count, recv_type, comm);
        if (!one || !all || send == MPI_IN_PLACE || recv == MPI_IN_PLACE) {
            return wrong_arguments;
        }
        elements = static_cast<std::size_t>(recv_count) * peers;
        block = one->bytes(static_cast<std::size_t>(send_count));
        const bool good = block * peers == all->bytes(elements);
        return good ? Verdict{Reason::none, block * peers} : wrong_arguments;
    }
    void stage(const ShadowCommunicator&, BlockLists&) {
        const std::byte* const sent = one_room.packed(*one, static_cast<std::size_t>(send_count));
        unpacks = !all->flat(elements);
        target = unpacks ? all_room.take(all->bytes(elements)) : all->buffer;
        // Not allowed, but neither MPI reports it.
        source = overlap(sent, block, target, all->bytes(elements))
                     ? std::copy_n(sent, block, one_room.take(block)) - block
                     : sent;
    }
    trefoil_status_t run(ShadowCommunicator& c, trefoil_comm_t t, const Form& form) const {
        return c.has_torus_of(t) ? form.call(TREFOIL_MPI_FORMS(neighbor_allgather), source,
                                             static_cast<void*>(target), block, TREFOIL_UINT8, t)
                                 : TREFOIL_ERROR_UNSUPPORTED;
    }
    void finish() const {
        if (unpacks) {
            all->unpack(0, elements, target);
        }
    }
};

template <typename Count, typename Displacement>
struct NeighborAllgathervOf : CollectiveCall {
    static constexpr Kind kind = Kind::neighbor_allgatherv;
    const void* send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void* recv;
    KeptList<Count> counts;
    KeptList<Displacement> displacements;
    MPI_Datatype recv_type;
    MPI_Comm comm;
    std::optional<Side> one{};
    Listed<Count, Displacement> all{};
    std::size_t peers = 0;
    BlockList* list = nullptr;
    Room one_room{}, all_room{};
    const void* source = nullptr;
    std::byte* target = nullptr;
    bool unpacks = false;

    void keep(const ShadowCommunicator&) {
        counts.keep(peers);
        displacements.keep(peers);
    }
    Verdict decide(const ShadowCommunicator& c) {
        peers = c.neighbours();
        if (peers == 0) {
            return {Reason::topology};
        }
        one = side_of(send, send_count, send_type, comm);
        all = {side_of(recv, 0, recv_type, comm), counts, displacements};
        const bool good = one && all.good(peers) && send != MPI_IN_PLACE && recv != MPI_IN_PLACE;
        return good ? Verdict{} : wrong_arguments;
    }
    void stage(const ShadowCommunicator&, BlockLists& lists) {
        list = &lists.recv;
        source = one_room.packed(*one, static_cast<std::size_t>(send_count));
        unpacks = !list_blocks(*list, peers, *all.side, all.counts, all.displacements);
        target = unpacks ? all_room.take(list->end()) : all.side->buffer;
    }
    trefoil_status_t run(ShadowCommunicator& c, trefoil_comm_t t, const Form& form) const {
        return c.has_torus_of(t) ? form.call(TREFOIL_MPI_FORMS(neighbor_allgatherv), source,
                                             one->bytes(static_cast<std::size_t>(send_count)),
                                             static_cast<void*>(target), list->counts.data(),
                                             list->displacements.data(), TREFOIL_UINT8, t)
                                 : TREFOIL_ERROR_UNSUPPORTED;
    }
    void finish() const {
        if (unpacks) {
            unpack_blocks(*list, *all.side, all.counts, all.displacements, target);
        }
    }
};

using NeighborAlltoall = AlltoallOf<Kind::neighbor_alltoall>;
using SmallNeighborAllgatherv = NeighborAllgathervOf<int, int>;
using LargeNeighborAllgatherv = NeighborAllgathervOf<MPI_Count, MPI_Aint>;
using SmallNeighborAlltoallv = AlltoallvOf<Kind::neighbor_alltoallv, int, int>;
using LargeNeighborAlltoallv = AlltoallvOf<Kind::neighbor_alltoallv, MPI_Count, MPI_Aint>;
using SmallNeighborAlltoallw = AlltoallwOf<Kind::neighbor_alltoallw, int, MPI_Aint>;
using LargeNeighborAlltoallw = AlltoallwOf<Kind::neighbor_alltoallw, MPI_Count, MPI_Aint>;

}  // namespace

TREFOIL_MPI_ENTRY(Neighbor_allgather, neighbor_allgather, NeighborAllgather,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_ENTRY(Neighbor_allgatherv, neighbor_allgatherv, SmallNeighborAllgatherv,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   const int counts[], const int displacements[], MPI_Datatype recv_type,
                   MPI_Comm comm),
                  (send, send_count, send_type, recv, counts, displacements, recv_type, comm))
TREFOIL_MPI_ENTRY(Neighbor_alltoall, neighbor_alltoall, NeighborAlltoall,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_ENTRY(Neighbor_alltoallv, neighbor_alltoallv, SmallNeighborAlltoallv,
                  (const void* send, const int* send_counts, const int* send_displacements,
                   MPI_Datatype send_type, void* recv, const int* recv_counts,
                   const int* recv_displacements, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_counts, send_displacements, send_type, recv, recv_counts,
                   recv_displacements, recv_type, comm))
TREFOIL_MPI_ENTRY(Neighbor_alltoallw, neighbor_alltoallw, SmallNeighborAlltoallw,
                  (const void* send, const int* send_counts, const MPI_Aint* send_displacements,
                   const MPI_Datatype* send_types, void* recv, const int* recv_counts,
                   const MPI_Aint* recv_displacements, const MPI_Datatype* recv_types,
                   MPI_Comm comm),
                  (send, send_counts, send_displacements, send_types, recv, recv_counts,
                   recv_displacements, recv_types, comm))
TREFOIL_MPI_LARGE_ENTRY(Neighbor_allgather, NeighborAllgather,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                        (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_LARGE_ENTRY(Neighbor_allgatherv, LargeNeighborAllgatherv,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         const MPI_Count counts[], const MPI_Aint displacements[],
                         MPI_Datatype recv_type, MPI_Comm comm),
                        (send, send_count, send_type, recv, counts, displacements, recv_type, comm))
TREFOIL_MPI_LARGE_ENTRY(Neighbor_alltoall, NeighborAlltoall,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                        (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_LARGE_ENTRY(Neighbor_alltoallv, LargeNeighborAlltoallv,
                        (const void* send, const MPI_Count send_counts[],
                         const MPI_Aint send_displacements[], MPI_Datatype send_type, void* recv,
                         const MPI_Count recv_counts[], const MPI_Aint recv_displacements[],
                         MPI_Datatype recv_type, MPI_Comm comm),
                        (send, send_counts, send_displacements, send_type, recv, recv_counts,
                         recv_displacements, recv_type, comm))
TREFOIL_MPI_LARGE_ENTRY(Neighbor_alltoallw, LargeNeighborAlltoallw,
                        (const void* send, const MPI_Count send_counts[],
                         const MPI_Aint send_displacements[], const MPI_Datatype send_types[],
                         void* recv, const MPI_Count recv_counts[],
                         const MPI_Aint recv_displacements[], const MPI_Datatype recv_types[],
                         MPI_Comm comm),
                        (send, send_counts, send_displacements, send_types, recv, recv_counts,
                         recv_displacements, recv_types, comm))
