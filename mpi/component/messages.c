/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages by which ranks set up Trefoil while their program goes on, and MPI's calls for it. */
#include <ompi_config.h>

#include <ompi/communicator/communicator.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/coll/base/coll_base_util.h>
#include <ompi/mca/pml/pml.h>
#include <ompi/request/request.h>
#include <opal/runtime/opal_progress.h>
#include "mpi/component_slots.h"

int trefoil_component_take_tag(ompi_communicator_t* comm) {
    return ompi_coll_base_nbc_reserve_tags(comm, 1);
}

int trefoil_component_send(const void* data, size_t bytes, int to, int tag,
                           ompi_communicator_t* comm, ompi_request_t** request) {
    return MCA_PML_CALL(
        isend(data, bytes, &ompi_mpi_byte.dt, to, tag, MCA_PML_BASE_SEND_STANDARD, comm, request));
}

int trefoil_component_receive(void* data, size_t bytes, int from, int tag,
                              ompi_communicator_t* comm, ompi_request_t** request) {
    return MCA_PML_CALL(irecv(data, bytes, &ompi_mpi_byte.dt, from, tag, comm, request));
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

void trefoil_component_watch(void) {
    opal_progress_register(trefoil_component_advance);
}
