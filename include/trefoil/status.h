/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil's C interface, continued: what a communicator is doing, and its end on all ranks.
 * Include trefoil.h. */
#ifndef TREFOIL_STATUS_H
#define TREFOIL_STATUS_H

#include <trefoil/trefoil.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a text for people who search the reason of a hang: which call, step, rank and port this
 * rank's calls in flight wait for, and for how long nothing has moved. The text may change in later
 * versions.
 *
 * `text` has room for `bytes` bytes. A longer text is cut; it always ends with 0.
 *
 * May be called while another thread is inside the communicator, but not while one destroys it, nor
 * from a function that Trefoil calls (an operation, a progress function). Where a thread that works
 * for the calls is held up in such a function, it takes a second and says so.
 *
 * TREFOIL_DUMP makes a signal write the same to the log, and `trefoil info --job` collects it from
 * all ranks. */
TREFOIL_API trefoil_status_t trefoil_comm_status(trefoil_comm_t comm, char* text, size_t bytes);

/* Why this communicator has failed, also while another thread is inside it; "": it has not. Valid
 * until this thread asks again, or calls trefoil_last_error. */
TREFOIL_API trefoil_status_t trefoil_comm_failure(trefoil_comm_t comm, const char** text);

/* Ends the communicator on all ranks. Their calls in flight, blocking and nonblocking, and
 * communicators that are being made from it end with TREFOIL_ERROR_ABORTED, and so does every later
 * call. The message is the same on all ranks: "rank 3 aborted: TEXT". At most 300 bytes of `text`
 * are kept; NULL and "" mean no text. Buffers are the caller's again, as after any error. Only
 * trefoil_comm_shrink and trefoil_comm_destroy are left to do.
 *
 * Not collective: one rank is enough. May be called by any thread, also while others are inside the
 * communicator, and by the thread that handles a program's signals; but not in a signal handler,
 * nor from a function that Trefoil calls (an operation, a progress function), nor while the
 * communicator is destroyed. It takes a quarter of a second, up to two where processors are short,
 * and one second more where a thread that works for the calls is held up in such a function. Calls
 * on other communicators that share the ports stand still meanwhile, and then go on.
 *
 * A rank that is outside Trefoil hears it in its next call. A call that is complete before the word
 * has come is a success. If several ranks abort at once all ranks have one text, of one of them. A
 * communicator that has failed before stays as it is: TREFOIL_SUCCESS, and nothing is changed. */
TREFOIL_API trefoil_status_t trefoil_comm_abort(trefoil_comm_t comm, const char* text);

#ifdef __cplusplus
}
#endif

#endif
