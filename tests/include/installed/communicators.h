/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of every_function.c that makes communicators from others. Valid C99 and C++11. */
#ifndef TREFOIL_INSTALLED_COMMUNICATORS_H
#define TREFOIL_INSTALLED_COMMUNICATORS_H

#include <stdio.h>
#include <stdlib.h>
#include <trefoil/trefoil.h>

static inline void require_made(int condition, int rank, const char* what) {
    if (!condition) {
        printf("rank %d: wrong: %s\n", rank, what);
        exit(EXIT_FAILURE);
    }
}

/* A sum over all its ranks, of the ranks that they had before: is it `expected`? Then its end. */
static inline void use_and_destroy(trefoil_status_t made, trefoil_comm_t* comm, int rank, int ranks,
                                   int expected, const char* call) {
    int sum = -1, size = -1;
    require_made(made == TREFOIL_SUCCESS, rank, call);
    require_made(trefoil_comm_size(*comm, &size) == TREFOIL_SUCCESS && size == ranks, rank, call);
    require_made(
        trefoil_allreduce(&rank, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, *comm) == TREFOIL_SUCCESS &&
            sum == expected,
        rank, call);
    require_made(trefoil_barrier(*comm) == TREFOIL_SUCCESS, rank, call);
    require_made(trefoil_comm_destroy(*comm) == TREFOIL_SUCCESS, rank, call);
    require_made(trefoil_comm_rank(*comm, &size) == TREFOIL_ERROR_INVALID_ARGUMENT, rank,
                 "a communicator that was destroyed");
}

/* What it says of itself. */
static inline void status(trefoil_comm_t comm, int rank) {
    char text[256] = "";
    require_made(trefoil_comm_status(comm, text, sizeof text) == TREFOIL_SUCCESS && text[0] != '\0',
                 rank, "trefoil_comm_status");
}

/* The last rank ends a communicator on all ranks. */
static inline void abort_one(trefoil_comm_t comm, int rank, int ranks) {
    trefoil_comm_t made = comm;
    require_made(trefoil_comm_dup(comm, &made) == TREFOIL_SUCCESS, rank, "trefoil_comm_dup");
    if (rank == ranks - 1) {
        require_made(trefoil_comm_abort(made, "enough") == TREFOIL_SUCCESS, rank,
                     "trefoil_comm_abort");
    }
    require_made(trefoil_barrier(made) == TREFOIL_ERROR_ABORTED, rank, "TREFOIL_ERROR_ABORTED");
    trefoil_cause_t cause;
    cause.size = sizeof cause;
    require_made(trefoil_last_cause(made, &cause) == TREFOIL_SUCCESS &&
                     cause.culprit == ranks - 1 && cause.evidence == TREFOIL_EVIDENCE_ABORTED,
                 rank, "trefoil_last_cause");
    trefoil_comm_t left = comm;
    use_and_destroy(trefoil_comm_shrink(made, &left), &left, rank, ranks, ranks * (ranks - 1) / 2,
                    "trefoil_comm_shrink");
    require_made(trefoil_comm_destroy(made) == TREFOIL_SUCCESS, rank, "trefoil_comm_destroy");
}

/* Of a communicator on a ring. */
static inline void communicators_from_others(trefoil_comm_t comm, int rank, int ranks) {
    const int all = ranks * (ranks - 1) / 2, keep = 1, ends[2] = {ranks - 1, 0};
    trefoil_comm_t made = comm;
    status(comm, rank);
    use_and_destroy(trefoil_comm_dup(comm, &made), &made, rank, ranks, all, "trefoil_comm_dup");
    use_and_destroy(trefoil_comm_sub(comm, &keep, &made), &made, rank, ranks, all,
                    "trefoil_comm_sub");
    if (rank == 0) {
        require_made(trefoil_comm_split(comm, TREFOIL_UNDEFINED, 0, &made) == TREFOIL_SUCCESS, rank,
                     "trefoil_comm_split");
        require_made(!made, rank, "TREFOIL_UNDEFINED");
    } else {
        use_and_destroy(trefoil_comm_split(comm, 3, -rank, &made), &made, rank, ranks - 1, all,
                        "trefoil_comm_split");
    }
    if (rank == 0 || rank == ranks - 1) {
        use_and_destroy(trefoil_comm_create_group(comm, ends, 2, 1, &made), &made, rank, 2,
                        ranks - 1, "trefoil_comm_create_group");
    }
    abort_one(comm, rank, ranks);
}

#endif
