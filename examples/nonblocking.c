/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in flight in plain C: two sums are under way while this rank computes, and a persistent
   call is started again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <trefoil/trefoil.h>

enum { count = 1000, iterations = 10 };

static void check(trefoil_status_t status, const char* call) {
    if (status != TREFOIL_SUCCESS) {
        fprintf(stderr, "%s: %s: %s\n", call, trefoil_status_string(status),
                trefoil_last_error(NULL));
        exit(EXIT_FAILURE);
    }
}

/* Stands for work that needs none of the buffers in flight. */
static double compute(int rank) {
    double sum = 0;
    int i = 0;
    for (i = 1; i <= 100000; ++i) {
        sum += 1.0 / (i + rank);
    }
    return sum;
}

int main(void) {
    static double first[count];
    static double second[count];
    double step = 0;
    trefoil_comm_t comm = NULL;
    trefoil_request_t requests[2] = {TREFOIL_REQUEST_NULL, TREFOIL_REQUEST_NULL};
    trefoil_request_t again = TREFOIL_REQUEST_NULL;
    double work = 0;
    int rank = 0;
    int ranks = 0;
    int wrong = 0;
    int i = 0;

    check(trefoil_comm_create(NULL, &comm), "trefoil_comm_create");
    check(trefoil_comm_rank(comm, &rank), "trefoil_comm_rank");
    check(trefoil_comm_size(comm, &ranks), "trefoil_comm_size");
    for (i = 0; i < count; ++i) {
        first[i] = rank;
        second[i] = i;
    }

    /* All ranks begin the calls in the same order. Until the wait the buffers belong to Trefoil. */
    check(trefoil_iallreduce(TREFOIL_IN_PLACE, first, count, TREFOIL_DOUBLE, TREFOIL_SUM, comm,
                             &requests[0]),
          "trefoil_iallreduce");
    check(trefoil_iallreduce(TREFOIL_IN_PLACE, second, count, TREFOIL_DOUBLE, TREFOIL_MAX, comm,
                             &requests[1]),
          "trefoil_iallreduce");
    work = compute(rank);
    check(trefoil_waitall(2, requests), "trefoil_waitall");
    for (i = 0; i < count; ++i) {
        wrong += first[i] != ranks * (ranks - 1) / 2.0;
        wrong += second[i] != i;
    }

    /* Prepared once, and then started with whatever lies in the buffer. */
    check(trefoil_allreduce_init(TREFOIL_IN_PLACE, &step, 1, TREFOIL_DOUBLE, TREFOIL_SUM, comm,
                                 &again),
          "trefoil_allreduce_init");
    for (i = 0; i < iterations; ++i) {
        step = i;
        check(trefoil_start(&again), "trefoil_start");
        check(trefoil_wait(&again), "trefoil_wait");
        wrong += step != (double)i * ranks;
    }
    check(trefoil_request_free(&again), "trefoil_request_free");

    if (rank == 0) {
        printf("%d ranks, work %.2f: %s\n", ranks, work, wrong == 0 ? "right" : "wrong");
    }
    check(trefoil_barrier(comm), "trefoil_barrier"); /* wait until no rank needs this one */
    check(trefoil_comm_destroy(comm), "trefoil_comm_destroy");
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
