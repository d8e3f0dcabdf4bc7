/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and checks collectives of an MPI library for scripts/compare (bench/peers/peer.h tells how
   and what it prints). It is compiled by mpicc of each library; the project's build has no part in
   it. */
#include "bench/peers/peer.h"

#include <mpi.h>

static int* blocks; /* of MPI_Reduce_scatter */
static int ranks;

static void call(enum peer_collective collective, float* send, float* recv, int count) {
    const MPI_Comm world = MPI_COMM_WORLD;
    switch (collective) {
        case peer_allreduce:
            MPI_Allreduce(send, recv, count, MPI_FLOAT, MPI_SUM, world);
            break;
        case peer_reduce_scatter:
            if (blocks[0] != count) {
                for (int r = 0; r < ranks; ++r) {
                    blocks[r] = count;
                }
            }
            MPI_Reduce_scatter(send, recv, blocks, MPI_FLOAT, MPI_SUM, world);
            break;
        case peer_allgather:
            MPI_Allgather(send, count, MPI_FLOAT, recv, count, MPI_FLOAT, world);
            break;
        case peer_bcast:
            MPI_Bcast(recv, count, MPI_FLOAT, 0, world);
            break;
        case peer_reduce:
            MPI_Reduce(send, recv, count, MPI_FLOAT, MPI_SUM, 0, world);
            break;
        case peer_gather:
            MPI_Gather(send, count, MPI_FLOAT, recv, count, MPI_FLOAT, 0, world);
            break;
        case peer_scatter:
            MPI_Scatter(send, count, MPI_FLOAT, recv, count, MPI_FLOAT, 0, world);
            break;
        default:
            MPI_Alltoall(send, count, MPI_FLOAT, recv, count, MPI_FLOAT, world);
    }
}

static void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static void maximize(double* values, int count) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

int main(int arguments, char** words) {
    struct peer peer = {0, 0, call, barrier, maximize, 0};
    const enum peer_collective collective = peer_asked(arguments, words);
    int code;
    if (collective == peer_collectives) {
        return 2;
    }
    MPI_Init(&arguments, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &peer.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &peer.rank);
    ranks = peer.ranks;
    blocks = peer_allocate((size_t)ranks * sizeof *blocks);
    code = peer_main(&peer, collective, arguments, words);
    free(blocks);
    MPI_Finalize();
    return code;
}
