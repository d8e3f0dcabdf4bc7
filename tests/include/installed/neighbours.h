/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of every_function.c that is about the neighbours in the torus. */
/* On a ring: block 0 is for and from the rank before, block 1 the one behind. */
static void exchanges_with_neighbours(void) {
    const int before = (rank + ranks - 1) % ranks;
    const size_t own = block;
    trefoil_request_t q = TREFOIL_REQUEST_NULL;
    clear();
    check(trefoil_neighbor_alltoall(send, recv, own, TREFOIL_INT32, comm), "neighbor_alltoall");
    end(trefoil_ineighbor_alltoall(send, recv, own, TREFOIL_INT32, comm, &q), &q, "ialltoall");
    twice(trefoil_neighbor_alltoall_init(send, recv, own, TREFOIL_INT32, comm, &q), &q, "init");
    check(trefoil_neighbor_alltoallv(send, counts, NOTHING, recv, counts, NOTHING, TREFOIL_INT32,
                                     comm),
          "neighbor_alltoallv");
    end(trefoil_ineighbor_alltoallv(send, counts, NOTHING, recv, counts, NOTHING, TREFOIL_INT32,
                                    comm, &q),
        &q, "ialltoallv");
    twice(trefoil_neighbor_alltoallv_init(send, counts, NOTHING, recv, counts, NOTHING,
                                          TREFOIL_INT32, comm, &q),
          &q, "alltoallv_init");
    expect_block(recv, before, 1, "neighbor_alltoallv");
    check(trefoil_neighbor_allgather(send, recv, own, TREFOIL_INT32, comm), "neighbor_allgather");
    end(trefoil_ineighbor_allgather(send, recv, own, TREFOIL_INT32, comm, &q), &q, "iallgather");
    twice(trefoil_neighbor_allgather_init(send, recv, own, TREFOIL_INT32, comm, &q), &q, "init");
    check(trefoil_neighbor_allgatherv(send, own, recv, counts, NOTHING, TREFOIL_INT32, comm), "v");
    end(trefoil_ineighbor_allgatherv(send, own, recv, counts, NOTHING, TREFOIL_INT32, comm, &q), &q,
        "iallgatherv");
    twice(
        trefoil_neighbor_allgatherv_init(send, own, recv, counts, NOTHING, TREFOIL_INT32, comm, &q),
        &q, "allgatherv_init");
    expect_block(recv, before, 0, "neighbor_allgatherv");
}
