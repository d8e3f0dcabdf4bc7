// SPDX-License-Identifier: BSD-3-Clause
// Alltoall, alltoallv and alltoallw.
#include TREFOIL_MPI_ENTRIES  // the host's way in

#include "mpi/exchange_calls.hpp"

using namespace trefoil::mpi;

namespace {

using Alltoall = AlltoallOf<Kind::alltoall>;
using SmallAlltoallv = AlltoallvOf<Kind::alltoallv, int, int>;
using LargeAlltoallv = AlltoallvOf<Kind::alltoallv, MPI_Count, MPI_Aint>;
using SmallAlltoallw = AlltoallwOf<Kind::alltoallw, int, int>;
using LargeAlltoallw = AlltoallwOf<Kind::alltoallw, MPI_Count, MPI_Aint>;

}  // namespace

TREFOIL_MPI_ENTRY(Alltoall, alltoall, Alltoall,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_ENTRY(Alltoallv, alltoallv, SmallAlltoallv,
                  (const void* send, const int* send_counts, const int* send_displacements,
                   MPI_Datatype send_type, void* recv, const int* recv_counts,
                   const int* recv_displacements, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_counts, send_displacements, send_type, recv, recv_counts,
                   recv_displacements, recv_type, comm))
TREFOIL_MPI_ENTRY(Alltoallw, alltoallw, SmallAlltoallw,
                  (const void* send, const int* send_counts, const int* send_displacements,
                   const MPI_Datatype* send_types, void* recv, const int* recv_counts,
                   const int* recv_displacements, const MPI_Datatype* recv_types, MPI_Comm comm),
                  (send, send_counts, send_displacements, send_types, recv, recv_counts,
                   recv_displacements, recv_types, comm))
TREFOIL_MPI_LARGE_ENTRY(Alltoall, Alltoall,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                        (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_LARGE_ENTRY(Alltoallv, LargeAlltoallv,
                        (const void* send, const MPI_Count send_counts[],
                         const MPI_Aint send_displacements[], MPI_Datatype send_type, void* recv,
                         const MPI_Count recv_counts[], const MPI_Aint recv_displacements[],
                         MPI_Datatype recv_type, MPI_Comm comm),
                        (send, send_counts, send_displacements, send_type, recv, recv_counts,
                         recv_displacements, recv_type, comm))
TREFOIL_MPI_LARGE_ENTRY(Alltoallw, LargeAlltoallw,
                        (const void* send, const MPI_Count send_counts[],
                         const MPI_Aint send_displacements[], const MPI_Datatype send_types[],
                         void* recv, const MPI_Count recv_counts[],
                         const MPI_Aint recv_displacements[], const MPI_Datatype recv_types[],
                         MPI_Comm comm),
                        (send, send_counts, send_displacements, send_types, recv, recv_counts,
                         recv_displacements, recv_types, comm))
