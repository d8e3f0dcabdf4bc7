/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil's C interface, continued: the collectives that block. Include trefoil.h. */
#ifndef TREFOIL_COLLECTIVES_H
#define TREFOIL_COLLECTIVES_H

#include <trefoil/trefoil.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collectives block until this rank's part is complete: what it receives is there, and
 * what it sends may be reused. All ranks give the same counts, datatype, op and root. Buffers must
 * not overlap unless TREFOIL_IN_PLACE says so; NULL is allowed where nothing is read or written.
 * Counts are elements. Reductions give bitwise identical results wherever the result is on several
 * ranks (unless an algorithm without that trait was asked for by name). */

/* Instead of a buffer: what is sent lies where the result will be. Each function says which buffer
 * and on which ranks. */
#ifdef __cplusplus
#define TREFOIL_IN_PLACE (reinterpret_cast<void*>(~static_cast<size_t>(0)))
#else
#define TREFOIL_IN_PLACE ((void*)-1)
#endif

/* recv[i] = op over all ranks of send[i], for `count` elements, on every rank.
 * In place: send is TREFOIL_IN_PLACE, or equal to recv; the input is in recv, and the result
 * replaces it. */
TREFOIL_API trefoil_status_t trefoil_allreduce(const void* send, void* recv, size_t count,
                                               trefoil_datatype_t datatype, trefoil_op_t op,
                                               trefoil_comm_t comm);

/* As trefoil_allreduce, but only the root receives; recv is ignored elsewhere. In place at the
 * root. */
TREFOIL_API trefoil_status_t trefoil_reduce(const void* send, void* recv, size_t count,
                                            trefoil_datatype_t datatype, trefoil_op_t op, int root,
                                            trefoil_comm_t comm);

/* Rank r receives the reduction of what ranks 0 ... r send, in their order. In place as
 * trefoil_allreduce. TREFOIL_ERROR_UNSUPPORTED where the torus has its ranks in another order than
 * row by row. */
TREFOIL_API trefoil_status_t trefoil_scan(const void* send, void* recv, size_t count,
                                          trefoil_datatype_t datatype, trefoil_op_t op,
                                          trefoil_comm_t comm);

/* As trefoil_scan, without the own contribution: rank r > 0 receives that of ranks 0 ... r-1; recv
 * of rank 0 is left as it is, and in place (send == TREFOIL_IN_PLACE) read. */
TREFOIL_API trefoil_status_t trefoil_exscan(const void* send, void* recv, size_t count,
                                            trefoil_datatype_t datatype, trefoil_op_t op,
                                            trefoil_comm_t comm);

/* send holds one block of `count` elements per rank; rank r receives block r of the reduction. In
 * place: the input is in recv, and the result at its beginning. */
TREFOIL_API trefoil_status_t trefoil_reduce_scatter_block(const void* send, void* recv,
                                                          size_t count, trefoil_datatype_t datatype,
                                                          trefoil_op_t op, trefoil_comm_t comm);

/* As trefoil_reduce_scatter_block, with a block of counts[r] elements for rank r, side by side. */
TREFOIL_API trefoil_status_t trefoil_reduce_scatter(const void* send, void* recv,
                                                    const size_t* counts,
                                                    trefoil_datatype_t datatype, trefoil_op_t op,
                                                    trefoil_comm_t comm);

/* Every rank receives all ranks' blocks of `count` elements in rank order. In place (send ==
 * TREFOIL_IN_PLACE): the own block is in recv already. */
TREFOIL_API trefoil_status_t trefoil_allgather(const void* send, void* recv, size_t count,
                                               trefoil_datatype_t datatype, trefoil_comm_t comm);

/* As trefoil_allgather, with blocks of counts[r] elements at displacements[r] elements from recv
 * (NULL: side by side); blocks must not overlap. send_count is counts[own rank], and ignored in
 * place. */
TREFOIL_API trefoil_status_t trefoil_allgatherv(const void* send, size_t send_count, void* recv,
                                                const size_t* counts, const size_t* displacements,
                                                trefoil_datatype_t datatype, trefoil_comm_t comm);

/* The root's buffer is copied to all. */
TREFOIL_API trefoil_status_t trefoil_bcast(void* buffer, size_t count, trefoil_datatype_t datatype,
                                           int root, trefoil_comm_t comm);

/* The root receives all ranks' blocks of `count` elements in rank order; recv is ignored elsewhere.
 * In place at the root: its own block is in recv already. */
TREFOIL_API trefoil_status_t trefoil_gather(const void* send, void* recv, size_t count,
                                            trefoil_datatype_t datatype, int root,
                                            trefoil_comm_t comm);

/* As trefoil_gather, with blocks of counts[r] elements at displacements[r] (NULL: side by side);
 * recv, counts and displacements matter at the root only. All ranks get the counts first; if the
 * root's arguments are wrong, all ranks report that. */
TREFOIL_API trefoil_status_t trefoil_gatherv(const void* send, size_t send_count, void* recv,
                                             const size_t* counts, const size_t* displacements,
                                             trefoil_datatype_t datatype, int root,
                                             trefoil_comm_t comm);

/* The root's send buffer holds a block of `count` elements per rank; rank r receives block r. send
 * is ignored elsewhere. In place at the root: recv == TREFOIL_IN_PLACE leaves its block there. */
TREFOIL_API trefoil_status_t trefoil_scatter(const void* send, void* recv, size_t count,
                                             trefoil_datatype_t datatype, int root,
                                             trefoil_comm_t comm);

/* As trefoil_scatter, with blocks of counts[r] elements at displacements[r] (NULL: side by side);
 * send, counts and displacements matter at the root only. All ranks get the counts first; if the
 * root's arguments are wrong, all ranks report that. */
TREFOIL_API trefoil_status_t trefoil_scatterv(const void* send, const size_t* counts,
                                              const size_t* displacements, void* recv,
                                              size_t recv_count, trefoil_datatype_t datatype,
                                              int root, trefoil_comm_t comm);

/* send holds a block of `count` elements for each rank, in rank order; block s of recv comes from
 * rank s, which is this rank's block of its send. In place (send == TREFOIL_IN_PLACE): the blocks
 * are in recv, and are replaced. */
TREFOIL_API trefoil_status_t trefoil_alltoall(const void* send, void* recv, size_t count,
                                              trefoil_datatype_t datatype, trefoil_comm_t comm);

/* As trefoil_alltoall, with send_counts[r] elements for rank r at send_displacements[r] elements
 * from send, and recv_counts[s] elements from rank s at recv_displacements[s] from recv (NULL: side
 * by side); blocks received must not overlap. A rank must receive from another one as much as that
 * one sends. No rank knows all counts, so a difference usually shows when the message arrives
 * (TREFOIL_ERROR_MISMATCH) or fails to (TREFOIL_ERROR_TIMEOUT). In place, the lists of the receive
 * side count for both sides. For elements of several types, give counts and displacements in bytes,
 * of TREFOIL_UINT8, and pack data that is not contiguous. */
TREFOIL_API trefoil_status_t trefoil_alltoallv(const void* send, const size_t* send_counts,
                                               const size_t* send_displacements, void* recv,
                                               const size_t* recv_counts,
                                               const size_t* recv_displacements,
                                               trefoil_datatype_t datatype, trefoil_comm_t comm);

/* Returns when all ranks have entered. */
TREFOIL_API trefoil_status_t trefoil_barrier(trefoil_comm_t comm);

/* Exchanges with the neighbours in the torus, of which there are two per dimension: first the one
 * in the negative direction of dimension 0, then the one in the positive direction, and so on, as
 * in MPI's Cartesian topologies. The blocks of a call are in that order. Dimensions wrap round: in
 * one of size 2 both neighbours are the same rank, in one of size 1 the rank itself, and the blocks
 * are two all the same. The block for the positive direction arrives at the positive neighbour as
 * that of its negative direction. There is no in place. A call takes one step. */

/* send holds `count` elements that all neighbours receive; recv a block from each of them. */
TREFOIL_API trefoil_status_t trefoil_neighbor_allgather(const void* send, void* recv, size_t count,
                                                        trefoil_datatype_t datatype,
                                                        trefoil_comm_t comm);

/* As trefoil_neighbor_allgather, with send_count elements, and counts[i] elements from neighbour i
 * at displacements[i] elements from recv (NULL: side by side); blocks must not overlap. Two
 * neighbours must agree on a count, as in trefoil_alltoallv. */
TREFOIL_API trefoil_status_t trefoil_neighbor_allgatherv(const void* send, size_t send_count,
                                                         void* recv, const size_t* counts,
                                                         const size_t* displacements,
                                                         trefoil_datatype_t datatype,
                                                         trefoil_comm_t comm);

/* send holds a block of `count` elements for each neighbour, recv one from each of them. */
TREFOIL_API trefoil_status_t trefoil_neighbor_alltoall(const void* send, void* recv, size_t count,
                                                       trefoil_datatype_t datatype,
                                                       trefoil_comm_t comm);

/* As trefoil_neighbor_alltoall, with send_counts[i] elements for neighbour i at
 * send_displacements[i] elements from send and recv_counts[i] elements from it at
 * recv_displacements[i] from recv (NULL: side by side); blocks received must not overlap. Two
 * neighbours must agree on a count, as in trefoil_alltoallv. */
TREFOIL_API trefoil_status_t trefoil_neighbor_alltoallv(const void* send, const size_t* send_counts,
                                                        const size_t* send_displacements,
                                                        void* recv, const size_t* recv_counts,
                                                        const size_t* recv_displacements,
                                                        trefoil_datatype_t datatype,
                                                        trefoil_comm_t comm);

#ifdef __cplusplus
}
#endif

#endif
