/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI 4 runs events of PMIx on a thread of its own. MPI_Init queues one, in
   ompi_interlib_declare, for which nothing waits. MPI_Finalize unloads the component that handles
   the event before it stops the thread: on a busy machine the thread may run it only then. */
#include <ompi_config.h>

#include "mpi/component_slots.h"

#if OMPI_MAJOR_VERSION < 5
#include <errno.h>
#include <semaphore.h>
#include <time.h>

#include <opal/mca/pmix/base/base.h>
#include <opal/mca/pmix/pmix.h>

enum { most_seconds = 10 };

static sem_t reached;
static opal_event_t mark; /* it may run after the wait: this component stays loaded */

static void reach(int file, short what, void* unused) {
    (void)file, (void)what, (void)unused;
    sem_post(&reached);
}

/* Events of one priority run in order. */
void trefoil_component_await_events(void) {
    opal_event_base_t* const events = opal_pmix_base.evbase;
    if (opal_pmix.initialized == NULL || events == NULL || events == opal_sync_event_base ||
        sem_init(&reached, 0, 0) != 0) {
        return;
    }
    opal_event_assign(&mark, events, -1, OPAL_EV_WRITE, reach, NULL);
    opal_event_active(&mark, OPAL_EV_WRITE, 1);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += most_seconds;
    while (sem_timedwait(&reached, &until) != 0 && errno == EINTR) {
    }
}
#else
void trefoil_component_await_events(void) {}
#endif
