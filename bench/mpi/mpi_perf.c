/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and checks collectives of an MPI library the way `trefoil perf` does, for scripts/compare.

   Usage: mpi_perf COLLECTIVE CALLS WARMUP COUNT ... Floats, sums, out of place, root 0; COUNT
   elements of the vector, or of each block in allgather, reduce_scatter and alltoall. The calls are
   timed one by one, no barrier between them; a call is as slow as its slowest rank. The first call
   and one after the timed ones are checked on data whose sums are exact. Rank 0 prints a line of
   JSON for each count. It is compiled by mpicc of each library; the project's build has no part in
   it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { values = 17, hidden = -1000 };

static int ranks, rank;
static const char* collective;
static int* blocks; /* of MPI_Reduce_scatter */

static int is(const char* name) {
    return strcmp(collective, name) == 0;
}

/* Of alltoall there is an input for each rank that receives: `of_rank` tells both. */
static float input(int of_rank, size_t i, int salt) {
    return (float)((int)((i + 3 * (size_t)of_rank * (size_t)of_rank + (size_t)salt) % values) - 8);
}

static int pair(int from, int to) {
    return from + ranks * to;
}

static void call(float* send, float* recv, int count) {
    if (is("allreduce")) {
        MPI_Allreduce(send, recv, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    } else if (is("allgather")) {
        MPI_Allgather(send, count, MPI_FLOAT, recv, count, MPI_FLOAT, MPI_COMM_WORLD);
    } else if (is("reduce_scatter")) {
        MPI_Reduce_scatter(send, recv, blocks, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    } else if (is("alltoall")) {
        MPI_Alltoall(send, count, MPI_FLOAT, recv, count, MPI_FLOAT, MPI_COMM_WORLD);
    } else if (is("bcast")) {
        MPI_Bcast(recv, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    } else {
        MPI_Reduce(send, recv, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

/* How many elements of this rank are wrong after one call. */
static long long checked_call(float* send, float* recv, int count, size_t all, int salt) {
    float sums[values];
    long long wrong = 0;
    const size_t sent = is("reduce_scatter") || is("alltoall") ? all : (size_t)count;
    const size_t received = is("allgather") || is("alltoall") ? all : (size_t)count;
    const size_t block = (size_t)count;
    for (int v = 0; v < values; ++v) {
        sums[v] = 0;
        for (int r = 0; r < ranks; ++r) {
            sums[v] += input(r, (size_t)v, salt);
        }
    }
    for (size_t i = 0; i < sent; ++i) {
        send[i] = is("alltoall") ? input(pair(rank, (int)(i / block)), i % block, salt)
                                 : input(rank, i, salt);
    }
    for (size_t i = 0; i < received; ++i) {
        recv[i] = is("bcast") && rank == 0 ? input(0, i, salt) : (float)hidden;
    }
    call(send, recv, count);
    for (size_t i = 0; i < received; ++i) {
        float expected = sums[i % values];
        if (is("allgather")) {
            expected = input((int)(i / block), i % block, salt);
        } else if (is("alltoall")) {
            expected = input(pair((int)(i / block), rank), i % block, salt);
        } else if (is("reduce_scatter")) {
            expected = sums[(i + (size_t)rank * (size_t)count) % values];
        } else if (is("bcast")) {
            expected = input(0, i, salt);
        } else if (is("reduce") && rank != 0) {
            continue; /* MPI leaves the content open */
        }
        wrong += recv[i] != expected;
    }
    return wrong;
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void* allocate(size_t bytes) {
    void* memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "mpi_perf: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    memset(memory, 0, bytes);
    return memory;
}

/* Returns how many elements were wrong on all ranks. */
static long long measure(int count, int calls, int warmup) {
    const size_t all =
        (size_t)count *
        (size_t)(is("allgather") || is("reduce_scatter") || is("alltoall") ? ranks : 1);
    float* send = allocate(all * sizeof *send);
    float* recv = allocate(all * sizeof *recv);
    double* mine = allocate((size_t)calls * sizeof *mine);
    double* seconds = allocate((size_t)calls * sizeof *seconds);
    long long wrong, total = 0;
    for (int r = 0; r < ranks; ++r) {
        blocks[r] = count;
    }
    wrong = checked_call(send, recv, count, all, 1);
    for (int i = 0; i < warmup; ++i) {
        call(send, recv, count);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < calls; ++i) {
        const double start = MPI_Wtime();
        call(send, recv, count);
        mine[i] = MPI_Wtime() - start;
    }
    wrong += checked_call(send, recv, count, all, 2);
    MPI_Allreduce(&wrong, &total, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(mine, seconds, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(seconds, (size_t)calls, sizeof *seconds, compare);
        printf("{\"count\": %d, \"bytes\": %zu, \"p50\": %.3f, \"wrong\": %lld}\n", count,
               all * sizeof *send, seconds[(calls + 1) / 2 - 1] * 1e6, total);
        fflush(stdout);
    }
    free(send);
    free(recv);
    free(mine);
    free(seconds);
    return total;
}

int main(int arguments, char** words) {
    static const char* const known[] = {"allreduce", "allgather", "reduce_scatter",
                                        "alltoall",  "bcast",     "reduce"};
    long long wrong = 0;
    int found = 0;
    for (size_t i = 0; arguments > 4 && i < sizeof known / sizeof *known; ++i) {
        found += strcmp(words[1], known[i]) == 0;
    }
    if (!found || atoi(words[2]) < 1) {
        fprintf(stderr,
                "usage: mpi_perf allreduce|allgather|reduce_scatter|alltoall|bcast|reduce CALLS "
                "WARMUP COUNT ...\n");
        return 2;
    }
    collective = words[1];
    MPI_Init(&arguments, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    blocks = allocate((size_t)ranks * sizeof *blocks);
    for (int i = 4; i < arguments; ++i) {
        wrong += measure(atoi(words[i]), atoi(words[2]), atoi(words[3]));
    }
    if (rank == 0) {
        printf("{\"done\": true}\n"); /* a library that hangs in MPI_Finalize may be ended now */
        fflush(stdout);
    }
    free(blocks);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
