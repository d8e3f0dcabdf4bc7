/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks have the component: each says so before MPI_Init's exchange of addresses. */
#include <ompi_config.h>

#include <stdlib.h>

#include <ompi/communicator/communicator.h>
#include <ompi/group/group.h>
#include <opal/mca/pmix/pmix.h>
#include "mpi/component_slots.h"

static char key[] = "trefoil.coll";

void trefoil_component_announce(void) {
    /* ompi_info opens components, too. */
    if (opal_pmix.put == NULL || opal_pmix.initialized == NULL || !opal_pmix.initialized()) {
        return;
    }
    char present = 1;
    int code = OPAL_SUCCESS;
    OPAL_MODEX_SEND_STRING(code, OPAL_PMIX_GLOBAL, key, &present, 1);
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
