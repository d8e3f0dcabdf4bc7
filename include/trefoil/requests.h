/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil's C interface, continued: calls in flight, and calls that are made again and again.
 * Include trefoil.h. */
#ifndef TREFOIL_REQUESTS_H
#define TREFOIL_REQUESTS_H

#include <trefoil/trefoil.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A request stands for a collective call that goes on while the program does something else. There
 * are two kinds.
 *
 * A *nonblocking* call (such as trefoil_iallreduce) begins at once. It ends with the first
 * successful test or wait, or with an error of these; that sets the request to
 * TREFOIL_REQUEST_NULL.
 *
 * A *persistent* call (such as trefoil_allreduce_init) is prepared once, as far as that does not
 * depend on the contents of the buffers. Each trefoil_start begins it, each test or wait ends it,
 * and trefoil_request_free frees it. Its buffers may be registered with the transport until then
 * (memory.h): they stay mapped. All ranks make the same _init calls in the same order, as any
 * collective call, and start requests in the same order.
 *
 * Until a call has ended the program does not write what it sends and does not touch what it
 * receives; buffers of calls in flight do not overlap, unless they are only read. On one
 * communicator an overlap is refused (TREFOIL_ERROR_INVALID_ARGUMENT), and nothing has begun on
 * this rank. Any number of calls may be in flight on one communicator. All ranks begin them in the
 * same order. They start in that order, those of at most 1 KiB (in shared memory 64 KiB) and larger
 * ones each for themselves, and end in any. Arguments are checked, and mean, as in the blocking
 * call.
 *
 * Port threads move the data meanwhile, if the communicator has some (TREFOIL_PORT_THREADS);
 * otherwise a thread that is inside a call of Trefoil on this communicator: testing, waiting,
 * trefoil_progress, a blocking call. A program without port threads that computes for long should
 * test now and then.
 *
 * Threads: one thread at a time begins calls on a communicator. Any threads may test and wait
 * meanwhile, each for requests of its own. */
typedef struct trefoil_request* trefoil_request_t;

/* No request: what a nonblocking call's becomes when the call has ended, and any that is freed. */
#ifdef __cplusplus
#define TREFOIL_REQUEST_NULL (static_cast<trefoil_request_t>(nullptr))
#else
#define TREFOIL_REQUEST_NULL ((trefoil_request_t)NULL)
#endif

/* *done becomes 1 if the call has ended, if the request is TREFOIL_REQUEST_NULL, or if it is
 * persistent and was not started; else 0. Moves data on for a moment, where there are no port
 * threads; returns soon. An error ends the call, too. */
TREFOIL_API trefoil_status_t trefoil_test(trefoil_request_t* request, int* done);

/* Returns when the call has ended; at once for TREFOIL_REQUEST_NULL and for a persistent request
 * that was not started. */
TREFOIL_API trefoil_status_t trefoil_wait(trefoil_request_t* request);

/* All of `count` requests: *done becomes 1, and all end, also after an error, if all can end now;
 * else none ends. Returns the first error. */
TREFOIL_API trefoil_status_t trefoil_testall(int count, trefoil_request_t* requests, int* done);

/* Waits for all of `count` requests, also after an error; returns the first error. */
TREFOIL_API trefoil_status_t trefoil_waitall(int count, trefoil_request_t* requests);

/* Waits for one of `count` requests, which ends; *index says which. -1: none of them is under way.
 */
TREFOIL_API trefoil_status_t trefoil_waitany(int count, trefoil_request_t* requests, int* index);

/* Begins persistent calls that are not under way: one, or `count` of them in their order. */
TREFOIL_API trefoil_status_t trefoil_start(trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_startall(int count, trefoil_request_t* requests);

/* Frees a persistent request, or lets go of a nonblocking one: a call that is under way goes on,
 * and its buffers are in use until another call has shown that it is over. Sets the request to
 * TREFOIL_REQUEST_NULL. Waits for nobody. */
TREFOIL_API trefoil_status_t trefoil_request_free(trefoil_request_t* request);

/* Moves data on for a moment, where there are no port threads. */
TREFOIL_API trefoil_status_t trefoil_progress(trefoil_comm_t comm);

/* How many calls are in flight on this communicator. */
TREFOIL_API trefoil_status_t trefoil_comm_in_flight(trefoil_comm_t comm, int* calls);

/* The nonblocking form of the call that has the same name without the i: arguments mean the same.
 * It begins the call and sets *request; on an error *request is TREFOIL_REQUEST_NULL. */
TREFOIL_API trefoil_status_t trefoil_iallreduce(const void* send, void* recv, size_t count,
                                                trefoil_datatype_t datatype, trefoil_op_t op,
                                                trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ireduce(const void* send, void* recv, size_t count,
                                             trefoil_datatype_t datatype, trefoil_op_t op, int root,
                                             trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_iexscan(const void* send, void* recv, size_t count,
                                             trefoil_datatype_t datatype, trefoil_op_t op,
                                             trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_iscan(const void* send, void* recv, size_t count,
                                           trefoil_datatype_t datatype, trefoil_op_t op,
                                           trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ireduce_scatter_block(const void* send, void* recv,
                                                           size_t count,
                                                           trefoil_datatype_t datatype,
                                                           trefoil_op_t op, trefoil_comm_t comm,
                                                           trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ireduce_scatter(const void* send, void* recv,
                                                     const size_t* counts,
                                                     trefoil_datatype_t datatype, trefoil_op_t op,
                                                     trefoil_comm_t comm,
                                                     trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_iallgather(const void* send, void* recv, size_t count,
                                                trefoil_datatype_t datatype, trefoil_comm_t comm,
                                                trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_iallgatherv(const void* send, size_t send_count, void* recv,
                                                 const size_t* counts, const size_t* displacements,
                                                 trefoil_datatype_t datatype, trefoil_comm_t comm,
                                                 trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ibcast(void* buffer, size_t count, trefoil_datatype_t datatype,
                                            int root, trefoil_comm_t comm,
                                            trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_igather(const void* send, void* recv, size_t count,
                                             trefoil_datatype_t datatype, int root,
                                             trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_iscatter(const void* send, void* recv, size_t count,
                                              trefoil_datatype_t datatype, int root,
                                              trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ialltoall(const void* send, void* recv, size_t count,
                                               trefoil_datatype_t datatype, trefoil_comm_t comm,
                                               trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ialltoallv(const void* send, const size_t* send_counts,
                                                const size_t* send_displacements, void* recv,
                                                const size_t* recv_counts,
                                                const size_t* recv_displacements,
                                                trefoil_datatype_t datatype, trefoil_comm_t comm,
                                                trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ineighbor_allgather(const void* send, void* recv, size_t count,
                                                         trefoil_datatype_t datatype,
                                                         trefoil_comm_t comm,
                                                         trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ineighbor_allgatherv(const void* send, size_t send_count,
                                                          void* recv, const size_t* counts,
                                                          const size_t* displacements,
                                                          trefoil_datatype_t datatype,
                                                          trefoil_comm_t comm,
                                                          trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ineighbor_alltoall(const void* send, void* recv, size_t count,
                                                        trefoil_datatype_t datatype,
                                                        trefoil_comm_t comm,
                                                        trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ineighbor_alltoallv(
    const void* send, const size_t* send_counts, const size_t* send_displacements, void* recv,
    const size_t* recv_counts, const size_t* recv_displacements, trefoil_datatype_t datatype,
    trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_ibarrier(trefoil_comm_t comm, trefoil_request_t* request);

/* As trefoil_gatherv and trefoil_scatterv, but each rank gives its own count, and the root those of
 * all; nobody else learns them, and a difference is found by the two ranks that it is about, as in
 * trefoil_alltoallv. So blocks go straight: where an algorithm that forwards them is set for gather
 * or scatter, these two and their persistent forms are refused (TREFOIL_ERROR_UNSUPPORTED), and the
 * calls that block are not. */
TREFOIL_API trefoil_status_t trefoil_igatherv(const void* send, size_t send_count, void* recv,
                                              const size_t* counts, const size_t* displacements,
                                              trefoil_datatype_t datatype, int root,
                                              trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_iscatterv(const void* send, const size_t* counts,
                                               const size_t* displacements, void* recv,
                                               size_t recv_count, trefoil_datatype_t datatype,
                                               int root, trefoil_comm_t comm,
                                               trefoil_request_t* request);

/* The persistent form of the call that has the same name without _init: arguments mean the same. It
 * prepares the call and sets *request; trefoil_start begins it. On an error *request is
 * TREFOIL_REQUEST_NULL. */
TREFOIL_API trefoil_status_t trefoil_allreduce_init(const void* send, void* recv, size_t count,
                                                    trefoil_datatype_t datatype, trefoil_op_t op,
                                                    trefoil_comm_t comm,
                                                    trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_reduce_init(const void* send, void* recv, size_t count,
                                                 trefoil_datatype_t datatype, trefoil_op_t op,
                                                 int root, trefoil_comm_t comm,
                                                 trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_exscan_init(const void* send, void* recv, size_t count,
                                                 trefoil_datatype_t datatype, trefoil_op_t op,
                                                 trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_scan_init(const void* send, void* recv, size_t count,
                                               trefoil_datatype_t datatype, trefoil_op_t op,
                                               trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_reduce_scatter_block_init(const void* send, void* recv,
                                                               size_t count,
                                                               trefoil_datatype_t datatype,
                                                               trefoil_op_t op, trefoil_comm_t comm,
                                                               trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_reduce_scatter_init(const void* send, void* recv,
                                                         const size_t* counts,
                                                         trefoil_datatype_t datatype,
                                                         trefoil_op_t op, trefoil_comm_t comm,
                                                         trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_allgather_init(const void* send, void* recv, size_t count,
                                                    trefoil_datatype_t datatype,
                                                    trefoil_comm_t comm,
                                                    trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_allgatherv_init(const void* send, size_t send_count,
                                                     void* recv, const size_t* counts,
                                                     const size_t* displacements,
                                                     trefoil_datatype_t datatype,
                                                     trefoil_comm_t comm,
                                                     trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_bcast_init(void* buffer, size_t count,
                                                trefoil_datatype_t datatype, int root,
                                                trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_gather_init(const void* send, void* recv, size_t count,
                                                 trefoil_datatype_t datatype, int root,
                                                 trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_scatter_init(const void* send, void* recv, size_t count,
                                                  trefoil_datatype_t datatype, int root,
                                                  trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_alltoall_init(const void* send, void* recv, size_t count,
                                                   trefoil_datatype_t datatype, trefoil_comm_t comm,
                                                   trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_alltoallv_init(
    const void* send, const size_t* send_counts, const size_t* send_displacements, void* recv,
    const size_t* recv_counts, const size_t* recv_displacements, trefoil_datatype_t datatype,
    trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_neighbor_allgather_init(const void* send, void* recv,
                                                             size_t count,
                                                             trefoil_datatype_t datatype,
                                                             trefoil_comm_t comm,
                                                             trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_neighbor_allgatherv_init(const void* send, size_t send_count,
                                                              void* recv, const size_t* counts,
                                                              const size_t* displacements,
                                                              trefoil_datatype_t datatype,
                                                              trefoil_comm_t comm,
                                                              trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_neighbor_alltoall_init(const void* send, void* recv,
                                                            size_t count,
                                                            trefoil_datatype_t datatype,
                                                            trefoil_comm_t comm,
                                                            trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_neighbor_alltoallv_init(
    const void* send, const size_t* send_counts, const size_t* send_displacements, void* recv,
    const size_t* recv_counts, const size_t* recv_displacements, trefoil_datatype_t datatype,
    trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_barrier_init(trefoil_comm_t comm, trefoil_request_t* request);

/* The persistent forms of trefoil_igatherv and trefoil_iscatterv, with their rules. */
TREFOIL_API trefoil_status_t trefoil_gatherv_init(const void* send, size_t send_count, void* recv,
                                                  const size_t* counts, const size_t* displacements,
                                                  trefoil_datatype_t datatype, int root,
                                                  trefoil_comm_t comm, trefoil_request_t* request);
TREFOIL_API trefoil_status_t trefoil_scatterv_init(const void* send, const size_t* counts,
                                                   const size_t* displacements, void* recv,
                                                   size_t recv_count, trefoil_datatype_t datatype,
                                                   int root, trefoil_comm_t comm,
                                                   trefoil_request_t* request);

#ifdef __cplusplus
}
#endif
#endif
