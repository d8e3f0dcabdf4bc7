/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil's C interface, continued: memory for buffers. Include trefoil.h. */
#ifndef TREFOIL_MEMORY_H
#define TREFOIL_MEMORY_H

#include <trefoil/trefoil.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any memory may be a buffer. *Registered* memory is prepared once for the transport, so that
 * persistent calls (requests.h) whose buffers lie in it take less time to prepare: peers put their
 * data straight into receive buffers, and memory in which several buffers lie is pinned once.
 * Persistent calls register their own buffers where the program has not.
 *
 * Registered memory belongs to `comm` and to all communicators that come from the same
 * trefoil_comm_create. These functions are of this rank alone: no other rank takes part. One thread
 * at a time is inside a communicator, as always.
 *
 * Errors: TREFOIL_ERROR_INVALID_ARGUMENT for NULL, for no bytes, for memory that was not registered
 * or allocated, and for overlaps; TREFOIL_ERROR_BUSY where a persistent request still uses any of
 * the memory, which the message names; TREFOIL_ERROR_OUT_OF_MEMORY; and those of the transport.
 * After an error nothing has changed. */

/* Memory of `bytes` bytes for buffers: zeroed, page-aligned, and registered where the transport can
 * do that. Memory that is not freed ends with the last of its communicators. */
TREFOIL_API trefoil_status_t trefoil_alloc(trefoil_comm_t comm, size_t bytes, void** memory);

/* Frees memory that trefoil_alloc gave. */
TREFOIL_API trefoil_status_t trefoil_free(trefoil_comm_t comm, void* memory);

/* Registers `bytes` bytes of memory that belongs to the program, which stays mapped and writable
 * until trefoil_deregister. TREFOIL_ERROR_UNSUPPORTED: the transport cannot; the memory can be used
 * all the same. */
TREFOIL_API trefoil_status_t trefoil_register(trefoil_comm_t comm, void* memory, size_t bytes);

/* Ends the registration that begins at `memory`. */
TREFOIL_API trefoil_status_t trefoil_deregister(trefoil_comm_t comm, void* memory);

#ifdef __cplusplus
}
#endif

#endif
