/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages by which ranks set up Trefoil while their program goes on, or come together after an
   error, and MPI's calls for it. */
#include <ompi_config.h>

#include <ompi/communicator/communicator.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/coll/base/coll_base_util.h>
#include <ompi/mca/pml/pml.h>
#include <ompi/request/request.h>
#include <opal/runtime/opal_progress.h>
#include "mpi/component_slots.h"

/* Tags of Open MPI's own collectives are negative; of those that do not block they go down from
   -27 by one for each. These are far from there, and no longer than the 24 bits that some
   transports have for tags. */
static int tag_of(int purpose) {
    return -8000001 - purpose;
}

int trefoil_component_send(const void* data, size_t bytes, int to, int purpose,
                           ompi_communicator_t* comm, ompi_request_t** request) {
    return MCA_PML_CALL(isend(data, bytes, &ompi_mpi_byte.dt, to, tag_of(purpose),
                              MCA_PML_BASE_SEND_STANDARD, comm, request));
}

int trefoil_component_receive(void* data, size_t bytes, int from, int purpose,
                              ompi_communicator_t* comm, ompi_request_t** request) {
    return MCA_PML_CALL(
        irecv(data, bytes, &ompi_mpi_byte.dt, from, tag_of(purpose), comm, request));
}

int trefoil_component_has_ended(ompi_request_t** request, int* code) {
    *code = OMPI_SUCCESS;
    if (*request == NULL || *request == MPI_REQUEST_NULL) {
        return 1;
    }
    if (!REQUEST_COMPLETE(*request)) {
        return 0;
    }
    opal_atomic_rmb();
    *code = (*request)->req_status.MPI_ERROR;
    ompi_request_free(request);
    *request = NULL;
    return 1;
}

int trefoil_component_next_tag(ompi_communicator_t* comm) {
    return comm->c_nbc_tag;
}

/* It passes over the tags above, and begins so early that a few calls of MPI's own do not come to
 * them either. */
int trefoil_component_reserve_tag(ompi_communicator_t* comm) {
    enum { OWN_TAGS = 4, MARGIN = 1000 };
    const int tag = comm->c_nbc_tag;
    if (tag <= tag_of(0) + MARGIN && tag > tag_of(OWN_TAGS)) {
        comm->c_nbc_tag = tag_of(OWN_TAGS);
    }
    return ompi_coll_base_nbc_reserve_tags(comm, 1);
}

void trefoil_component_set_next_tag(ompi_communicator_t* comm, int tag) {
    comm->c_nbc_tag = tag;
}

static bool gives_way; /* as MPI_Init has set it */

void trefoil_component_note_waiting(void) {
    gives_way = opal_progress_set_yield_when_idle(false);
    opal_progress_set_yield_when_idle(gives_way);
}

/* opal_progress() gives up the core where the program has asked for that and nothing has come. Who
 * waits in Trefoil does so by itself, and where ranks share a core each turn of all of them costs.
 */
void trefoil_component_let_mpi_go_on(void) {
    opal_progress_set_yield_when_idle(false);
    opal_progress();
    opal_progress_set_yield_when_idle(gives_way);
}

void trefoil_component_watch(void) {
    opal_progress_register(trefoil_component_advance);
}
