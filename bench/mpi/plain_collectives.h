/* SPDX-License-Identifier: BSD-3-Clause */
/* Of mpi_programs.c: collectives that block, one after the other. */
#pragma once

#include <mpi.h>
#include <stdio.h>

enum { LARGE = 1 << 20 };

static int rank, ranks;
static int wrong;
static char* out; /* LARGE bytes for each rank */
static char* in;

static void expect(int holds, const char* what) {
    if (!holds && !wrong) {
        fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
        wrong = 1;
    }
}

static int sum_of_ranks(void) {
    return ranks * (ranks - 1) / 2;
}

static void allreduce_on(MPI_Comm comm, int bytes, int calls) {
    const int count = bytes / (int)sizeof(int);
    int* mine = (int*)out;
    int* sums = (int*)in;
    int size = 0, here = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &here);
    mine[0] = mine[count - 1] = here;
    for (int i = 0; i < calls; ++i) {
        sums[count - 1] = -1;
        MPI_Allreduce(mine, sums, count, MPI_INT, MPI_SUM, comm);
        expect(sums[count - 1] == size * (size - 1) / 2, "the sum of an allreduce");
    }
}

/* Collectives, one after the other. */
#define OF_SIZES(NAME)                  \
    static void NAME##_8(int calls) {   \
        NAME(8, calls);                 \
    }                                   \
    static void NAME##_1k(int calls) {  \
        NAME(1024, calls);              \
    }                                   \
    static void NAME##_64k(int calls) { \
        NAME(65536, calls);             \
    }                                   \
    static void NAME##_1m(int calls) {  \
        NAME(LARGE, calls);             \
    }

static void allreduce(int bytes, int calls) {
    allreduce_on(MPI_COMM_WORLD, bytes, calls);
}
static void bcast(int bytes, int calls) {
    for (int i = 0; i < calls; ++i) {
        out[bytes - 1] = rank == 0 ? 7 : 0;
        MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        expect(out[bytes - 1] == 7, "a bcast");
    }
}
static void reduce(int bytes, int calls) {
    const int count = bytes / (int)sizeof(int);
    ((int*)out)[count - 1] = rank;
    for (int i = 0; i < calls; ++i) {
        MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        expect(rank != 0 || ((int*)in)[count - 1] == sum_of_ranks(), "a reduce");
    }
}
static void allgather(int bytes, int calls) {
    const int each = bytes / ranks > 0 ? bytes / ranks : 1;
    for (int i = 0; i < calls; ++i) {
        out[each - 1] = (char)(rank + 1);
        MPI_Allgather(out, each, MPI_BYTE, in, each, MPI_BYTE, MPI_COMM_WORLD);
        expect(in[each * ranks - 1] == ranks, "an allgather");
    }
}
static void alltoall(int bytes, int calls) {
    const int each = bytes / ranks > 0 ? bytes / ranks : 1;
    for (int i = 0; i < calls; ++i) {
        out[each * ranks - 1] = (char)(rank + 1);
        MPI_Alltoall(out, each, MPI_BYTE, in, each, MPI_BYTE, MPI_COMM_WORLD);
        expect(rank != ranks - 1 || in[each - 1] == 1, "an alltoall");
    }
}
static void gather(int bytes, int calls) {
    const int each = bytes / ranks > 0 ? bytes / ranks : 1;
    for (int i = 0; i < calls; ++i) {
        out[each - 1] = (char)(rank + 1);
        MPI_Gather(out, each, MPI_BYTE, in, each, MPI_BYTE, 0, MPI_COMM_WORLD);
        expect(rank != 0 || in[each * ranks - 1] == ranks, "a gather");
    }
}
static void scatter(int bytes, int calls) {
    const int each = bytes / ranks > 0 ? bytes / ranks : 1;
    for (int r = 0; rank == 0 && r < ranks; ++r) {
        out[each * (r + 1) - 1] = (char)(r + 1);
    }
    for (int i = 0; i < calls; ++i) {
        MPI_Scatter(out, each, MPI_BYTE, in, each, MPI_BYTE, 0, MPI_COMM_WORLD);
        expect(in[each - 1] == rank + 1, "a scatter");
    }
}
static void reduce_scatter(int bytes, int calls) {
    const int each = bytes / 4 / ranks > 0 ? bytes / 4 / ranks : 1;
    ((int*)out)[each * (rank + 1) - 1] = 1;
    for (int r = 0; r < ranks; ++r) {
        ((int*)out)[each * (r + 1) - 1] = rank;
    }
    for (int i = 0; i < calls; ++i) {
        MPI_Reduce_scatter_block(out, in, each, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(((int*)in)[each - 1] == sum_of_ranks(), "a reduce_scatter");
    }
}
OF_SIZES(allreduce)
OF_SIZES(bcast)
OF_SIZES(reduce)
OF_SIZES(allgather)
OF_SIZES(alltoall)
OF_SIZES(gather)
OF_SIZES(scatter)
OF_SIZES(reduce_scatter)

static void barrier(int calls) {
    for (int i = 0; i < calls; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
static void scan_8(int calls) {
    int sum[2] = {0, 0}, one[2] = {1, rank};
    for (int i = 0; i < calls; ++i) {
        MPI_Scan(one, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum[0] == rank + 1, "a scan");
    }
}
