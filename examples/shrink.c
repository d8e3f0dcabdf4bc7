/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes on without a rank that has ended: the last rank leaves in the middle of the program, and the
   others continue on a communicator of the ranks that are left. */
#include <stdio.h>
#include <stdlib.h>
#include <trefoil/trefoil.h>

static void check(trefoil_status_t status, const char* call) {
    if (status != TREFOIL_SUCCESS) {
        fprintf(stderr, "%s: %s: %s\n", call, trefoil_status_string(status),
                trefoil_last_error(NULL));
        exit(EXIT_FAILURE);
    }
}

/* How many ranks take part, counted by a sum; without the ranks that have ended, if some have. */
static int counted(trefoil_comm_t* comm) {
    for (;;) {
        trefoil_comm_t rest = NULL;
        int ones = 1;
        const trefoil_status_t status =
            trefoil_allreduce(TREFOIL_IN_PLACE, &ones, 1, TREFOIL_INT32, TREFOIL_SUM, *comm);
        if (status == TREFOIL_SUCCESS) {
            return ones;
        }
        fprintf(stderr, "%s\n", trefoil_last_error(*comm));
        check(trefoil_comm_shrink(*comm, &rest), "trefoil_comm_shrink");
        check(trefoil_comm_destroy(*comm), "trefoil_comm_destroy");
        *comm = rest;
    }
}

int main(void) {
    trefoil_comm_t comm = NULL;
    int rank = 0;
    int ranks = 0;
    int wrong = 0;

    check(trefoil_comm_create(NULL, &comm), "trefoil_comm_create");
    check(trefoil_comm_rank(comm, &rank), "trefoil_comm_rank");
    check(trefoil_comm_size(comm, &ranks), "trefoil_comm_size");
    (void)trefoil_barrier(
        comm); /* a rank that still waits here when the last one ends sees an error */
    if (ranks > 1 && rank == ranks - 1) {
        _Exit(EXIT_SUCCESS); /* without a word, as a process that was killed */
    }
    wrong += ranks > 1 && counted(&comm) != ranks - 1;

    printf("rank %d of %d went on: %s\n", rank, ranks, wrong == 0 ? "right" : "wrong");
    check(trefoil_barrier(comm), "trefoil_barrier"); /* wait until no rank needs this one */
    check(trefoil_comm_destroy(comm), "trefoil_comm_destroy");
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
