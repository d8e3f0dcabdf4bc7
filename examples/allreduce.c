/* SPDX-License-Identifier: BSD-3-Clause */
/* The C interface in one page: every rank contributes its number, every rank gets the sum. */
#include <stdio.h>
#include <stdlib.h>
#include <trefoil/trefoil.h>

/* Ends the program with the library's own words when a call failed. */
static void check(trefoil_status_t status, const char* call) {
    if (status != TREFOIL_SUCCESS) {
        fprintf(stderr, "%s: %s: %s\n", call, trefoil_status_string(status),
                trefoil_last_error(NULL));
        exit(EXIT_FAILURE);
    }
}

int main(void) {
    enum { count = 1000 };
    static float values[count];
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER; /* rank and torus: from the environment */
    trefoil_comm_t comm = NULL;
    int rank = 0;
    int ranks = 0;
    int wrong = 0;
    int i = 0;

    check(trefoil_comm_create(&config, &comm), "trefoil_comm_create");
    check(trefoil_comm_rank(comm, &rank), "trefoil_comm_rank");
    check(trefoil_comm_size(comm, &ranks), "trefoil_comm_size");

    for (i = 0; i < count; ++i) {
        values[i] = (float)(rank + i);
    }
    check(trefoil_allreduce(TREFOIL_IN_PLACE, values, count, TREFOIL_FLOAT, TREFOIL_SUM, comm),
          "trefoil_allreduce");
    for (i = 0; i < count; ++i) {
        wrong += values[i] != (float)(ranks * (ranks - 1) / 2 + ranks * i);
    }
    printf("rank %d of %d: %d of %d sums are wrong\n", rank, ranks, wrong, (int)count);

    check(trefoil_barrier(comm), "trefoil_barrier"); /* nobody needs this rank any more */
    check(trefoil_comm_destroy(comm), "trefoil_comm_destroy");
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
