/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks have the component: each says so before MPI_Init's exchange of addresses. */
#include <ompi_config.h>

#include <stdlib.h>

#include <ompi/communicator/communicator.h>
#include <ompi/group/group.h>
#if OMPI_MAJOR_VERSION >= 5
#include <opal/mca/pmix/pmix-internal.h>
#define TREFOIL_TO_ALL PMIX_GLOBAL
#else
#include <opal/mca/pmix/pmix.h>
#define TREFOIL_TO_ALL OPAL_PMIX_GLOBAL
#endif
#include "mpi/component_slots.h"

static char key[] = "trefoil.coll";

/* ompi_info opens components, too, and is no rank. */
static int is_rank(void) {
#if OMPI_MAJOR_VERSION >= 5
    return PMIx_Initialized();
#else
    return opal_pmix.put != NULL && opal_pmix.initialized != NULL && opal_pmix.initialized();
#endif
}

void trefoil_component_announce(void) {
    if (!is_rank()) {
        return;
    }
    char present = 1;
    int code = OPAL_SUCCESS;
    OPAL_MODEX_SEND_STRING(code, TREFOIL_TO_ALL, key, &present, 1);
    (void)code;
}

int trefoil_component_is_on(int rank) {
    opal_process_name_t name = ompi_group_get_proc_name(MPI_COMM_WORLD->c_local_group, rank);
    void* data = NULL;
    size_t bytes = 0;
    int code = OPAL_SUCCESS;
    OPAL_MODEX_RECV_STRING(code, key, &name, (uint8_t**)&data, &bytes);
    free(data);
    return code == OPAL_SUCCESS && bytes == 1;
}
