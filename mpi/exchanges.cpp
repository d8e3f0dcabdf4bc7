// SPDX-License-Identifier: BSD-3-Clause
// Alltoall, alltoallv and alltoallw.
#include "mpi/exchange_calls.hpp"
// Of the host: TREFOIL_MPI_ENTRY.
#include TREFOIL_MPI_ENTRIES

using namespace trefoil::mpi;

namespace {

using Alltoall = AlltoallOf<Kind::alltoall>;
using Alltoallv = AlltoallvOf<Kind::alltoallv>;
using Alltoallw = AlltoallwOf<Kind::alltoallw, int>;

}  // namespace

TREFOIL_MPI_ENTRY(Alltoall, alltoall, Alltoall,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_ENTRY(Alltoallv, alltoallv, Alltoallv,
                  (const void* send, const int* send_counts, const int* send_displacements,
                   MPI_Datatype send_type, void* recv, const int* recv_counts,
                   const int* recv_displacements, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_counts, send_displacements, send_type, recv, recv_counts,
                   recv_displacements, recv_type, comm))
TREFOIL_MPI_ENTRY(Alltoallw, alltoallw, Alltoallw,
                  (const void* send, const int* send_counts, const int* send_displacements,
                   const MPI_Datatype* send_types, void* recv, const int* recv_counts,
                   const int* recv_displacements, const MPI_Datatype* recv_types, MPI_Comm comm),
                  (send, send_counts, send_displacements, send_types, recv, recv_counts,
                   recv_displacements, recv_types, comm))
