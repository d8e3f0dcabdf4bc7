/* SPDX-License-Identifier: BSD-3-Clause */
/* Of mpi_programs.c: collectives, one after the other: those that block, those that do not and are
   waited for, and persistent ones. */
#pragma once

#include <mpi.h>
#include <stdio.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define PERSISTENT(NAME) MPIX_##NAME##_init
#else
#define PERSISTENT(NAME) MPI_##NAME##_init
#endif

enum { LARGE = 16 << 20 };
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT_WAY } Way;

static int rank, ranks;
static int wrong;
static char* out; /* twice LARGE bytes */
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

/* A program is of one kind, so one persistent request does. */
static MPI_Request persistent = MPI_REQUEST_NULL;

/* MPI_Name, MPI_Iname, or a persistent call. */
#define MAKE(way, Name, name, ...)                                         \
    do {                                                                   \
        MPI_Request request_;                                              \
        if (way == BLOCKING) {                                             \
            MPI_##Name(__VA_ARGS__);                                       \
        } else if (way == NONBLOCKING) {                                   \
            MPI_I##name(__VA_ARGS__, &request_);                           \
            MPI_Wait(&request_, MPI_STATUS_IGNORE);                        \
        } else {                                                           \
            if (persistent == MPI_REQUEST_NULL) {                          \
                PERSISTENT(Name)(__VA_ARGS__, MPI_INFO_NULL, &persistent); \
            }                                                              \
            MPI_Start(&persistent);                                        \
            MPI_Wait(&persistent, MPI_STATUS_IGNORE);                      \
        }                                                                  \
    } while (0)

static void allreduce_on(MPI_Comm comm, int bytes, int calls, Way way) {
    const int count = bytes / (int)sizeof(int);
    int* mine = (int*)out;
    int* sums = (int*)in;
    int size = 0, here = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &here);
    mine[0] = mine[count - 1] = here;
    for (int i = 0; i < calls; ++i) {
        sums[count - 1] = -1;
        MAKE(way, Allreduce, allreduce, mine, sums, count, MPI_INT, MPI_SUM, comm);
        expect(sums[count - 1] == size * (size - 1) / 2, "the sum of an allreduce");
    }
}

static void allreduce(int bytes, int calls, Way way) {
    allreduce_on(MPI_COMM_WORLD, bytes, calls, way);
}
static void bcast(int bytes, int calls, Way way) {
    for (int i = 0; i < calls; ++i) {
        out[bytes - 1] = rank == 0 ? 7 : 0;
        MAKE(way, Bcast, bcast, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        expect(out[bytes - 1] == 7, "a bcast");
    }
}
static void reduce(int bytes, int calls, Way way) {
    const int count = bytes / (int)sizeof(int);
    ((int*)out)[count - 1] = rank;
    for (int i = 0; i < calls; ++i) {
        MAKE(way, Reduce, reduce, out, in, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        expect(rank != 0 || ((int*)in)[count - 1] == sum_of_ranks(), "a reduce");
    }
}
static int share_of(int bytes) {
    return bytes / ranks > 0 ? bytes / ranks : 1;
}
static void allgather(int bytes, int calls, Way way) {
    const int each = share_of(bytes);
    out[each - 1] = (char)(rank + 1);
    for (int i = 0; i < calls; ++i) {
        in[each * ranks - 1] = 0;
        MAKE(way, Allgather, allgather, out, each, MPI_BYTE, in, each, MPI_BYTE, MPI_COMM_WORLD);
        expect(in[each * ranks - 1] == ranks, "an allgather");
    }
}
static void alltoall(int bytes, int calls, Way way) {
    const int each = share_of(bytes);
    out[each * ranks - 1] = (char)(rank + 1);
    for (int i = 0; i < calls; ++i) {
        in[each - 1] = 0;
        MAKE(way, Alltoall, alltoall, out, each, MPI_BYTE, in, each, MPI_BYTE, MPI_COMM_WORLD);
        expect(rank != ranks - 1 || in[each - 1] == 1, "an alltoall");
    }
}
static void gather(int bytes, int calls, Way way) {
    const int each = share_of(bytes);
    out[each - 1] = (char)(rank + 1);
    for (int i = 0; i < calls; ++i) {
        in[each * ranks - 1] = 0;
        MAKE(way, Gather, gather, out, each, MPI_BYTE, in, each, MPI_BYTE, 0, MPI_COMM_WORLD);
        expect(rank != 0 || in[each * ranks - 1] == ranks, "a gather");
    }
}
static void scatter(int bytes, int calls, Way way) {
    const int each = share_of(bytes);
    for (int r = 0; rank == 0 && r < ranks; ++r) {
        out[each * (r + 1) - 1] = (char)(r + 1);
    }
    for (int i = 0; i < calls; ++i) {
        in[each - 1] = 0;
        MAKE(way, Scatter, scatter, out, each, MPI_BYTE, in, each, MPI_BYTE, 0, MPI_COMM_WORLD);
        expect(in[each - 1] == rank + 1, "a scatter");
    }
}
static void reduce_scatter(int bytes, int calls, Way way) {
    const int each = share_of(bytes / 4);
    for (int r = 0; r < ranks; ++r) {
        ((int*)out)[each * (r + 1) - 1] = rank;
    }
    for (int i = 0; i < calls; ++i) {
        ((int*)in)[each - 1] = -1;
        MAKE(way, Reduce_scatter_block, reduce_scatter_block, out, in, each, MPI_INT, MPI_SUM,
             MPI_COMM_WORLD);
        expect(((int*)in)[each - 1] == sum_of_ranks(), "a reduce_scatter");
    }
}

#define OF_SIZE(NAME, size, bytes, way, WAY)       \
    static void NAME##_##way##_##size(int calls) { \
        NAME(bytes, calls, WAY);                   \
    }
#define OF_SIZES(NAME)                                  \
    OF_SIZE(NAME, 8, 8, blocks, BLOCKING)               \
    OF_SIZE(NAME, 1k, 1024, blocks, BLOCKING)           \
    OF_SIZE(NAME, 64k, 65536, blocks, BLOCKING)         \
    OF_SIZE(NAME, 1m, 1 << 20, blocks, BLOCKING)        \
    OF_SIZE(NAME, 16m, 16 << 20, blocks, BLOCKING)      \
    OF_SIZE(NAME, 8, 8, goes_on, NONBLOCKING)           \
    OF_SIZE(NAME, 64k, 65536, goes_on, NONBLOCKING)     \
    OF_SIZE(NAME, 1m, 1 << 20, goes_on, NONBLOCKING)    \
    OF_SIZE(NAME, 8, 8, persists, PERSISTENT_WAY)       \
    OF_SIZE(NAME, 64k, 65536, persists, PERSISTENT_WAY) \
    OF_SIZE(NAME, 1m, 1 << 20, persists, PERSISTENT_WAY)
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
