/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil's C interface, continued: communicators that are made from others.
 * Include trefoil.h. */
#ifndef TREFOIL_COMMUNICATORS_H
#define TREFOIL_COMMUNICATORS_H

#include <trefoil/trefoil.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator that is made from another one, its parent, has all or some of the parent's ranks.
 * All communicators that come from one trefoil_comm_create share its endpoints, connections,
 * landing memory and port threads: each takes some kilobytes, and channels to the peers that its
 * calls use. Each has calls, requests, algorithms and errors of its own. The parent may be
 * destroyed first.
 *
 * Its torus (trefoil_comm_torus, trefoil_comm_torus_source): ranks that form a box of the first
 * communicator's torus - rows, planes, columns, blocks, every second plane - keep the dimensions of
 * that box. Any others get a logical torus, in which neighbours lie near each other.
 *
 * Making one takes a few messages among its ranks; neither the launcher nor the program's allgather
 * takes part. Calls in flight go on meanwhile. All ranks of the parent make the call (of
 * trefoil_comm_create_group: all ranks of the group), in the same order as their other calls that
 * make communicators of this parent. One thread at a time is inside a parent; threads may use
 * different communicators at the same time.
 *
 * Algorithms that were set on the parent are set on the new one where they suit its torus; user
 * schedules are not.
 *
 * Errors: TREFOIL_ERROR_MISMATCH where ranks make different communicators, TREFOIL_ERROR_TIMEOUT
 * where a rank does not come, TREFOIL_ERROR_INVALID_ARGUMENT. *made is NULL then, and the parent
 * can go on. A rank whose arguments are wrong has changed nothing: it may call again, while the
 * others wait for it. */

/* Makes a communicator of the same ranks, in the same places. */
TREFOIL_API trefoil_status_t trefoil_comm_dup(trefoil_comm_t parent, trefoil_comm_t* made);

/* The colour of ranks that get no communicator from trefoil_comm_split. */
#define TREFOIL_UNDEFINED (-1)

/* Makes one communicator for each colour: of the ranks that gave it, ordered by key, and by rank
 * where keys are equal. A colour is at least 0; a rank that gives TREFOIL_UNDEFINED gets none:
 * *made is NULL, and the status TREFOIL_SUCCESS. */
TREFOIL_API trefoil_status_t trefoil_comm_split(trefoil_comm_t parent, int colour, int key,
                                                trefoil_comm_t* made);

/* Makes communicators of rows or planes: of the ranks that differ from this one in no dimension of
 * the parent's torus but those with keep[j] != 0. `keep` has a flag for each dimension; at least
 * one is set. Ranks are numbered row by row. */
TREFOIL_API trefoil_status_t trefoil_comm_sub(trefoil_comm_t parent, const int* keep,
                                              trefoil_comm_t* made);

/* Makes a communicator of the ranks ranks[0] ... ranks[count - 1] of the parent, in this order; the
 * caller is one of them, and only they call, with the same list. `tag` distinguishes groups of the
 * same ranks that several threads make at the same time. */
TREFOIL_API trefoil_status_t trefoil_comm_create_group(trefoil_comm_t parent, const int* ranks,
                                                       int count, int tag, trefoil_comm_t* made);

/* Makes a communicator of the ranks of `comm` that are left, in their order, to go on without the
 * dead; also of a communicator that has failed or was aborted. Where all are left it is a
 * duplicate. Collective over those that are left, also over ranks whose last call succeeded. Calls
 * in flight on `comm` end with its error first; `comm` can be destroyed at any time after that.
 *
 * The ranks agree on who is left: all of them get a communicator of the same ranks. A rank is not
 * left if its process has ended, or if it does not make this call within TREFOIL_TIMEOUT. A rank
 * that dies meanwhile is left out, too, or is a rank of the new communicator, which then fails in
 * its first call and can be shrunk again. A rank that is late but lives gets
 * TREFOIL_ERROR_PEER_LOST, and the others go on without it.
 *
 * On any error *made is NULL, and the call may be made again: TREFOIL_ERROR_TIMEOUT where ranks
 * could not agree; TREFOIL_ERROR_PEER_LOST also where the transport cannot go on after an error
 * (docs/reliability.md). */
TREFOIL_API trefoil_status_t trefoil_comm_shrink(trefoil_comm_t comm, trefoil_comm_t* made);

#ifdef __cplusplus
}
#endif

#endif
