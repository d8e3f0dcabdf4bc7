/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of parts of the torus: sums along this rank's row, along its column, and among the
   ranks of one colour. */
#include <stdio.h>
#include <stdlib.h>
#include <trefoil/trefoil.h>

enum { most_dimensions = 16 };

static void check(trefoil_status_t status, const char* call) {
    if (status != TREFOIL_SUCCESS) {
        fprintf(stderr, "%s: %s: %s\n", call, trefoil_status_string(status),
                trefoil_last_error(NULL));
        exit(EXIT_FAILURE);
    }
}

/* How many ranks the communicator has, counted by a sum over them. */
static int counted(trefoil_comm_t comm) {
    int ones = 1;
    check(trefoil_allreduce(TREFOIL_IN_PLACE, &ones, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
          "trefoil_allreduce");
    return ones;
}

int main(void) {
    int torus[most_dimensions] = {0};
    int keep[most_dimensions] = {0};
    trefoil_comm_t comm = NULL;
    trefoil_comm_t line = NULL;
    trefoil_comm_t half = NULL;
    int dimensions = 0;
    int rank = 0;
    int ranks = 0;
    int wrong = 0;
    int j = 0;

    check(trefoil_comm_create(NULL, &comm), "trefoil_comm_create");
    check(trefoil_comm_rank(comm, &rank), "trefoil_comm_rank");
    check(trefoil_comm_size(comm, &ranks), "trefoil_comm_size");
    check(trefoil_comm_torus(comm, &dimensions, torus, most_dimensions), "trefoil_comm_torus");

    /* A line along each dimension through this rank. Its messages use the ports of that dimension
       alone. */
    for (j = 0; j < dimensions; ++j) {
        keep[j] = 1;
        check(trefoil_comm_sub(comm, keep, &line), "trefoil_comm_sub");
        keep[j] = 0;
        wrong += counted(line) != torus[j];
        check(trefoil_barrier(line), "trefoil_barrier");
        check(trefoil_comm_destroy(line), "trefoil_comm_destroy");
    }

    /* The even ranks, and the odd ones. */
    check(trefoil_comm_split(comm, rank % 2, 0, &half), "trefoil_comm_split");
    wrong += counted(half) != (ranks + 1 - rank % 2) / 2;
    check(trefoil_barrier(half), "trefoil_barrier");
    check(trefoil_comm_destroy(half), "trefoil_comm_destroy");

    printf("rank %d of %d: %s\n", rank, ranks, wrong == 0 ? "right" : "wrong");
    check(trefoil_barrier(comm), "trefoil_barrier"); /* wait until no rank needs this one */
    check(trefoil_comm_destroy(comm), "trefoil_comm_destroy");
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
