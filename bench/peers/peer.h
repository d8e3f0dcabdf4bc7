/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and checks a collective of another library the way `trefoil perf --barriers` does.

   A program for a library defines how it calls and what its ranks agree on (struct peer) and hands
   its command line to peer_main(): COLLECTIVE CALLS WARMUP COUNT ... Floats, sums, out of place,
   root 0; COUNT elements of the vector, or of each block where ranks have blocks. Two times are
   told for each count, in microseconds:
   loop           back to back: calls in at most ten stretches, with a barrier before each, which is
                  not timed; the time per call of a stretch is that of its slowest rank; the median
                  of the stretches
   with_barriers  the same, where a stretch is one call
   The first call and one after the timed ones are checked on data whose sums are exact. Rank 0
   prints a line of JSON for each count, and a last one. */
#ifndef TREFOIL_BENCH_PEERS_PEER_H
#define TREFOIL_BENCH_PEERS_PEER_H

#if !defined _POSIX_C_SOURCE && !defined _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime(): include this header first */
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum peer_collective {
    peer_allreduce,
    peer_reduce_scatter,
    peer_allgather,
    peer_bcast,
    peer_reduce,
    peer_gather,
    peer_scatter,
    peer_alltoall,
    peer_collectives
};

enum { peer_values = 17, peer_hidden = -1000 };

/* What a library's program provides. All ranks call all of it alike. */
struct peer {
    int rank, ranks;
    /* One call; `count` elements of the vector or of a block. The buffers of a count stay where
       they are; one that a rank's side of a rooted collective ignores may be empty. */
    void (*call)(enum peer_collective collective, float* send, float* recv, int count);
    void (*barrier)(void);
    /* The largest of all ranks, element by element, on all ranks or on rank 0 alone. */
    void (*maximize)(double* values, int count);
    /* Bit c: the library has no collective c. */
    unsigned absent;
};

static inline const char* peer_name(int collective) {
    static const char* const names[peer_collectives] = {"allreduce", "reduce_scatter", "allgather",
                                                        "bcast",     "reduce",         "gather",
                                                        "scatter",   "alltoall"};
    return names[collective];
}

static inline double peer_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Of alltoall and scatter there is an input for each rank that receives: `of_rank` tells both. */
static inline float peer_input(int of_rank, size_t i, int salt) {
    const size_t square = (size_t)of_rank * (size_t)of_rank;
    return (float)((int)((i + 3 * square + (size_t)salt) % peer_values) - 8);
}

static inline void* peer_allocate(size_t bytes) {
    void* memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(3);
    }
    memset(memory, 0, bytes);
    return memory;
}

static inline int peer_has_blocks(enum peer_collective c) {
    return c != peer_allreduce && c != peer_bcast && c != peer_reduce;
}

/* Elements that `rank` sends and receives; what it would ignore is 0. */
static inline size_t peer_sent(enum peer_collective c, int rank, int ranks, size_t count) {
    const int all = c == peer_reduce_scatter || c == peer_alltoall || c == peer_scatter;
    return c == peer_scatter && rank != 0 ? 0 : all ? count * (size_t)ranks : count;
}

static inline size_t peer_received(enum peer_collective c, int rank, int ranks, size_t count) {
    const int all = c == peer_allgather || c == peer_alltoall || c == peer_gather;
    const int rooted = c == peer_gather || c == peer_reduce;
    return rooted && rank != 0 ? 0 : all ? count * (size_t)ranks : count;
}

static inline float peer_expected(enum peer_collective c, const struct peer* p, const float* sums,
                                  size_t i, size_t count, int salt) {
    const int block = (int)(i / count);
    switch (c) {
        case peer_reduce_scatter:
            return sums[(i + (size_t)p->rank * count) % peer_values];
        case peer_allgather:
        case peer_gather:
            return peer_input(block, i % count, salt);
        case peer_bcast:
            return peer_input(0, i, salt);
        case peer_scatter:
            return peer_input(p->ranks * p->rank, i, salt);
        case peer_alltoall:
            return peer_input(block + p->ranks * p->rank, i % count, salt);
        default:
            return sums[i % peer_values];
    }
}

/* How many elements of this rank are wrong after one call. */
static inline double peer_checked_call(enum peer_collective c, const struct peer* p, float* send,
                                       float* recv, size_t count, int salt) {
    float sums[peer_values];
    double wrong = 0;
    const size_t sent = peer_sent(c, p->rank, p->ranks, count);
    const size_t received = peer_received(c, p->rank, p->ranks, count);
    const int pairs = c == peer_scatter || c == peer_alltoall;
    for (int v = 0; v < peer_values; ++v) {
        sums[v] = 0;
        for (int r = 0; r < p->ranks; ++r) {
            sums[v] += peer_input(r, (size_t)v, salt);
        }
    }
    for (size_t i = 0; i < sent; ++i) {
        const int to = (int)(i / count);
        send[i] = pairs ? peer_input(p->rank + p->ranks * to, i % count, salt)
                        : peer_input(p->rank, i, salt);
    }
    for (size_t i = 0; i < received; ++i) {
        const int own = c == peer_bcast && p->rank == 0;
        recv[i] = own ? peer_input(0, i, salt) : (float)peer_hidden;
    }
    p->call(c, send, recv, (int)count);
    for (size_t i = 0; i < received; ++i) {
        wrong += recv[i] != peer_expected(c, p, sums, i, count, salt);
    }
    return wrong;
}

static inline int peer_compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Of the slowest rank; right on rank 0. */
static inline double peer_median(const struct peer* p, double* seconds, int count) {
    p->maximize(seconds, count);
    qsort(seconds, (size_t)count, sizeof *seconds, peer_compare);
    return seconds[(count + 1) / 2 - 1];
}

/* Of few calls, few stretches: a barrier before each hides how far ahead a rank may run. */
static inline int peer_stretches(int calls) {
    const int most = 10, least_calls = 3;
    const int some = calls / least_calls;
    return some < 1 ? 1 : some < most ? some : most;
}

/* Microseconds per call, right on rank 0. Every stretch is whole: ranks begin it together, and its
   time ends when the last rank has what its last call gives it. Without the barrier a rank could
   send in one stretch what another one takes in during the next ones, and most of these would seem
   to be short. */
static inline double peer_time(enum peer_collective c, const struct peer* p, float* send,
                               float* recv, int count, int calls, int stretches) {
    double* seconds = (double*)peer_allocate((size_t)stretches * sizeof *seconds);
    double median;
    for (int s = 0; s < stretches; ++s) {
        const int first = (int)((int64_t)s * calls / stretches);
        const int last = (int)((int64_t)(s + 1) * calls / stretches);
        double start;
        p->barrier();
        start = peer_seconds();
        for (int i = first; i < last; ++i) {
            p->call(c, send, recv, count);
        }
        seconds[s] = (peer_seconds() - start) / (last - first);
    }
    median = peer_median(p, seconds, stretches) * 1e6;
    free(seconds);
    return median;
}

/* Returns how many elements were wrong on the rank that had most; right on rank 0. */
static inline double peer_measure(enum peer_collective c, const struct peer* p, int count,
                                  int calls, int warmup) {
    const size_t received = peer_received(c, p->rank, p->ranks, (size_t)count);
    const size_t least = c == peer_reduce ? (size_t)count : 0; /* Gloo takes it for sums, too */
    float* send =
        (float*)peer_allocate(peer_sent(c, p->rank, p->ranks, (size_t)count) * sizeof *send);
    float* recv = (float*)peer_allocate((received > least ? received : least) * sizeof *recv);
    double loop, with_barriers;
    double wrong = peer_checked_call(c, p, send, recv, (size_t)count, 1);
    for (int i = 0; i < warmup; ++i) {
        p->call(c, send, recv, count);
    }
    loop = peer_time(c, p, send, recv, count, calls, peer_stretches(calls));
    with_barriers = peer_time(c, p, send, recv, count, calls, calls);
    wrong += peer_checked_call(c, p, send, recv, (size_t)count, 2);
    p->maximize(&wrong, 1);
    if (p->rank == 0) {
        printf("{\"count\": %d, \"loop\": %.4f, \"with_barriers\": %.4f, \"wrong\": %.0f}\n", count,
               loop, with_barriers, wrong);
        fflush(stdout);
    }
    free(send);
    free(recv);
    return wrong;
}

/* peer_collectives where there is none of that name. */
static inline enum peer_collective peer_find(const char* name) {
    int c = 0;
    while (c < peer_collectives && strcmp(name, peer_name(c)) != 0) {
        ++c;
    }
    return (enum peer_collective)c;
}

/* The collective of a command line; peer_collectives where it is unusable, which it says. */
static inline enum peer_collective peer_asked(int arguments, char** words) {
    const enum peer_collective found = arguments > 4 ? peer_find(words[1]) : peer_collectives;
    if (found != peer_collectives && atoi(words[2]) > 0) {
        return found;
    }
    fprintf(stderr, "usage: %s COLLECTIVE CALLS WARMUP COUNT ...; collectives:", words[0]);
    for (int c = 0; c < peer_collectives; ++c) {
        fprintf(stderr, " %s", peer_name(c));
    }
    fprintf(stderr, "\n");
    return peer_collectives;
}

/* Measures all counts; returns the exit code, which is right on rank 0: 1, something was wrong. */
static inline int peer_main(const struct peer* p, enum peer_collective c, int arguments,
                            char** words) {
    double wrong = 0;
    if (p->absent >> c & 1) {
        if (p->rank == 0) {
            printf("{\"absent\": \"%s\"}\n", peer_name(c));
        }
        arguments = 0;
    }
    for (int i = 4; i < arguments; ++i) {
        wrong += peer_measure(c, p, atoi(words[i]), atoi(words[2]), atoi(words[3]));
    }
    if (p->rank == 0) {
        printf("{\"done\": true}\n"); /* a library that hangs at its end may be ended now */
        fflush(stdout);
    }
    return wrong == 0 ? 0 : 1;
}

#endif
