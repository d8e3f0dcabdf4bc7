/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil's C interface, continued: what a communicator is doing. Include trefoil.h. */
#ifndef TREFOIL_STATUS_H
#define TREFOIL_STATUS_H

#include <trefoil/trefoil.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this rank's calls in flight wait for, in words: which call, which step, from which rank,
 * through which port, and for how long nothing has moved. For people who look for the reason why a
 * job hangs; the words may change.
 *
 * `text` has room for `bytes` bytes. What does not fit is cut, and it ends with 0 in any case.
 *
 * May be called while another thread is inside the communicator, but not while one destroys it, nor
 * from a function that Trefoil calls (an operation, a progress function). Where a thread that works
 * for the calls is held up in such a function, it takes a second and says so.
 *
 * TREFOIL_DUMP makes a signal write the same to the log, and `trefoil info --job` collects it from
 * all ranks. */
TREFOIL_API trefoil_status_t trefoil_comm_status(trefoil_comm_t comm, char* text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
