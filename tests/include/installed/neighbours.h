/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of every_function.c that is about the neighbours in the torus. Valid C99 and C++11. */
#ifndef TREFOIL_INSTALLED_NEIGHBOURS_H
#define TREFOIL_INSTALLED_NEIGHBOURS_H

#include <stdio.h>
#include <stdlib.h>
#include <trefoil/trefoil.h>

/* On a ring: block 0 is for and from the rank before, block 1 the one behind. */
typedef struct {
    int rank, ranks, send[2], recv[2];
} ring_t;

static inline void expect_of_ring(ring_t* ring, trefoil_status_t status, int before, int behind,
                                  const char* call) {
    const int of_before = 2 * ((ring->rank + ring->ranks - 1) % ring->ranks) + before;
    const int of_behind = 2 * ((ring->rank + 1) % ring->ranks) + behind;
    if (status != TREFOIL_SUCCESS || ring->recv[0] != of_before || ring->recv[1] != of_behind) {
        printf("rank %d: wrong: %s\n", ring->rank, call);
        exit(EXIT_FAILURE);
    }
    ring->recv[0] = ring->recv[1] = -1;
}

static inline trefoil_status_t waited(trefoil_status_t begun, trefoil_request_t* request) {
    return begun != TREFOIL_SUCCESS ? begun : trefoil_wait(request);
}
static inline trefoil_status_t started(trefoil_status_t prepared, trefoil_request_t* request) {
    const trefoil_status_t begun = prepared != TREFOIL_SUCCESS ? prepared : trefoil_start(request);
    const trefoil_status_t ended = waited(begun, request);
    return ended != TREFOIL_SUCCESS ? ended : trefoil_request_free(request);
}

static inline void exchanges_with_neighbours(trefoil_comm_t c, int rank, int ranks) {
    const size_t n[2] = {1, 1}, at[2] = {0, 1};
    const trefoil_datatype_t t = TREFOIL_INT32;
    trefoil_request_t q = TREFOIL_REQUEST_NULL;
    ring_t r = {rank, ranks, {2 * rank, 2 * rank + 1}, {-1, -1}};
    int *s = r.send, *to = r.recv;
    expect_of_ring(&r, trefoil_neighbor_alltoall(s, to, 1, t, c), 1, 0, "alltoall");
    expect_of_ring(&r, waited(trefoil_ineighbor_alltoall(s, to, 1, t, c, &q), &q), 1, 0, "i");
    expect_of_ring(&r, started(trefoil_neighbor_alltoall_init(s, to, 1, t, c, &q), &q), 1, 0,
                   "init");
    expect_of_ring(&r, trefoil_neighbor_alltoallv(s, n, at, to, n, at, t, c), 1, 0, "alltoallv");
    expect_of_ring(&r, waited(trefoil_ineighbor_alltoallv(s, n, at, to, n, at, t, c, &q), &q), 1, 0,
                   "ialltoallv");
    expect_of_ring(&r, started(trefoil_neighbor_alltoallv_init(s, n, at, to, n, at, t, c, &q), &q),
                   1, 0, "alltoallv_init");
    expect_of_ring(&r, trefoil_neighbor_allgather(s, to, 1, t, c), 0, 0, "allgather");
    expect_of_ring(&r, waited(trefoil_ineighbor_allgather(s, to, 1, t, c, &q), &q), 0, 0, "i");
    expect_of_ring(&r, started(trefoil_neighbor_allgather_init(s, to, 1, t, c, &q), &q), 0, 0,
                   "init");
    expect_of_ring(&r, trefoil_neighbor_allgatherv(s, 1, to, n, at, t, c), 0, 0, "allgatherv");
    expect_of_ring(&r, waited(trefoil_ineighbor_allgatherv(s, 1, to, n, at, t, c, &q), &q), 0, 0,
                   "iallgatherv");
    expect_of_ring(&r, started(trefoil_neighbor_allgatherv_init(s, 1, to, n, at, t, c, &q), &q), 0,
                   0, "allgatherv_init");
}

#endif
