/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's requests, for calls that Trefoil runs. Their beginning is that of Open MPI's own
   requests for collectives, since MPI_Iallreduce and its like write operation and datatypes there.
 */
#include <ompi_config.h>

#include <ompi/communicator/communicator.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/coll/base/coll_base_util.h>
#include <ompi/op/op.h>
#include <ompi/request/request.h>
#include <opal/class/opal_free_list.h>
#include "mpi/component_slots.h"

typedef struct {
    ompi_coll_base_nbc_request_t super;
    void* job; /* of a persistent request */
} job_request_t;

static int start(size_t count, ompi_request_t** requests) {
    int first = OMPI_SUCCESS;
    for (size_t i = 0; i < count; ++i) {
        ompi_request_t* const request = requests[i];
        if (request == NULL || request->req_type != OMPI_REQUEST_COLL) {
            continue;
        }
        request->req_status.MPI_ERROR = OMPI_SUCCESS;
        request->req_complete = REQUEST_PENDING;
        request->req_state = OMPI_REQUEST_ACTIVE;
        const int code = trefoil_component_start_job(((job_request_t*)request)->job);
        if (code != OMPI_SUCCESS) {
            trefoil_component_complete(request, code);
            first = first == OMPI_SUCCESS ? code : first;
        }
    }
    return first;
}

static opal_free_list_t pool;

/* MPI forbids it while the call is under way. */
static int free_request(ompi_request_t** place) {
    ompi_request_t* const request = *place;
    if (!REQUEST_COMPLETE(request)) {
        return MPI_ERR_REQUEST;
    }
    void* const job = ((job_request_t*)request)->job;
    ompi_communicator_t* comm = request->req_mpi_object.comm;
    OMPI_REQUEST_FINI(request);
    ((job_request_t*)request)->job = NULL;
    opal_free_list_return(&pool, &request->super);
    *place = MPI_REQUEST_NULL;
    if (job != NULL) {
        trefoil_component_free_job(job);
    }
    OBJ_RELEASE(comm);
    return OMPI_SUCCESS;
}

static int cancel(ompi_request_t* request, int complete) {
    (void)request, (void)complete;
    return MPI_ERR_REQUEST;
}

static void construct(job_request_t* request) {
    ompi_request_t* const base = &request->super.super;
    base->req_type = OMPI_REQUEST_COLL;
    base->req_status._cancelled = 0;
    base->req_free = free_request;
    base->req_cancel = cancel;
    base->req_start = start;
    request->job = NULL;
}

static OBJ_CLASS_INSTANCE(job_request_t, ompi_coll_base_nbc_request_t, construct, NULL);

/* Once, before the first request. */
static int make_pool(void) {
    static opal_mutex_t mutex = OPAL_MUTEX_STATIC_INIT;
    static volatile int made = 0;
    if (made) {
        return OMPI_SUCCESS;
    }
    opal_mutex_lock(&mutex);
    int code = OMPI_SUCCESS;
    if (!made) {
        OBJ_CONSTRUCT(&pool, opal_free_list_t);
        code = opal_free_list_init(&pool, sizeof(job_request_t), 64, OBJ_CLASS(job_request_t), 0, 0,
                                   0, -1, 16, NULL, 0, NULL, NULL, NULL);
        opal_atomic_wmb();
        made = code == OMPI_SUCCESS;
    }
    opal_mutex_unlock(&mutex);
    return code;
}

ompi_request_t* trefoil_component_new_request(ompi_communicator_t* comm, void* job,
                                              int persistent) {
    if (make_pool() != OMPI_SUCCESS) {
        return NULL;
    }
    job_request_t* const made = (job_request_t*)opal_free_list_get(&pool);
    if (made == NULL) {
        return NULL;
    }
    ompi_request_t* const request = &made->super.super;
    OMPI_REQUEST_INIT(request, persistent != 0);
    request->req_state = persistent ? OMPI_REQUEST_INACTIVE : OMPI_REQUEST_ACTIVE;
    request->req_status.MPI_ERROR = OMPI_SUCCESS;
    request->req_mpi_object.comm = comm;
    made->job = persistent ? job : NULL;
    OBJ_RETAIN(comm);
    return request;
}

void trefoil_component_complete(ompi_request_t* request, int code) {
    request->req_status.MPI_ERROR = code;
    ompi_request_complete(request, true);
}

void trefoil_component_hold_type(ompi_datatype_t* type) {
    if (type != NULL && !ompi_datatype_is_predefined(type)) {
        OBJ_RETAIN(type);
    }
}

void trefoil_component_drop_type(ompi_datatype_t* type) {
    if (type != NULL && !ompi_datatype_is_predefined(type)) {
        OBJ_RELEASE_NO_NULLIFY(type);
    }
}

void trefoil_component_hold_op(ompi_op_t* op) {
    if (op != NULL && !ompi_op_is_intrinsic(op)) {
        OBJ_RETAIN(op);
    }
}

void trefoil_component_drop_op(ompi_op_t* op) {
    if (op != NULL && !ompi_op_is_intrinsic(op)) {
        OBJ_RELEASE_NO_NULLIFY(op);
    }
}
