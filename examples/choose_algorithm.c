/* SPDX-License-Identifier: BSD-3-Clause */
/* Times a call of this program's own size by several algorithms, and keeps the fastest. All ranks
   must choose alike, so they agree on the slowest rank's time. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trefoil/trefoil.h>

enum { count = 20000, calls = 50 };

static void check(trefoil_status_t status, const char* call) {
    if (status != TREFOIL_SUCCESS) {
        fprintf(stderr, "%s: %s: %s\n", call, trefoil_status_string(status),
                trefoil_last_error(NULL));
        exit(EXIT_FAILURE);
    }
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of one call, of the slowest rank; the first call prepares, and is not counted. */
static double time_of(trefoil_comm_t comm, const char* algorithm, const float* values,
                      float* sums) {
    double begin = 0;
    double seconds = 0;
    int i = 0;
    check(trefoil_comm_set_algorithm(comm, "allreduce", algorithm), "trefoil_comm_set_algorithm");
    for (i = 0; i <= calls; ++i) {
        if (i == 1) {
            begin = seconds_now();
        }
        check(trefoil_allreduce(values, sums, count, TREFOIL_FLOAT, TREFOIL_SUM, comm),
              "trefoil_allreduce");
    }
    seconds = (seconds_now() - begin) / calls;
    check(trefoil_comm_set_algorithm(comm, "allreduce", "auto"), "trefoil_comm_set_algorithm");
    check(trefoil_allreduce(TREFOIL_IN_PLACE, &seconds, 1, TREFOIL_DOUBLE, TREFOIL_MAX, comm),
          "trefoil_allreduce");
    return seconds;
}

int main(void) {
    static const char* const candidates[] = {"auto", "trivance-b", "swing-b", "bucket", "ring"};
    static float values[count];
    static float sums[count];
    trefoil_comm_t comm = NULL;
    const char* fastest = NULL;
    const char* used = NULL;
    double least = 0;
    int rank = 0;
    size_t i = 0;

    check(trefoil_comm_create(NULL, &comm), "trefoil_comm_create");
    check(trefoil_comm_rank(comm, &rank), "trefoil_comm_rank");
    for (i = 0; i < count; ++i) {
        values[i] = 1;
    }
    check(trefoil_comm_algorithm(comm, "allreduce", count, TREFOIL_FLOAT, &used),
          "trefoil_comm_algorithm");
    if (rank == 0) {
        printf("auto would take %s for %d floats\n", used, (int)count);
    }
    for (i = 0; i < sizeof candidates / sizeof candidates[0]; ++i) {
        const double seconds = time_of(comm, candidates[i], values, sums);
        if (rank == 0) {
            printf("%-12s %8.1f us\n", candidates[i], 1e6 * seconds);
        }
        if (fastest == NULL || seconds < least) {
            fastest = candidates[i];
            least = seconds;
        }
    }
    check(trefoil_comm_set_algorithm(comm, "allreduce", fastest), "trefoil_comm_set_algorithm");
    if (rank == 0) {
        printf("from now on: %s\n", fastest);
    }
    check(trefoil_barrier(comm), "trefoil_barrier"); /* nobody needs this rank any more */
    check(trefoil_comm_destroy(comm), "trefoil_comm_destroy");
    return EXIT_SUCCESS;
}
