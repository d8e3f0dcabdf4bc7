/* SPDX-License-Identifier: BSD-3-Clause */
/* What the component's two halves say to each other. Open MPI's own headers are no C++, and the
   collectives are written in it: so component.c knows Open MPI, and gives each communicator's
   functions to entry.hpp. */
#ifndef TREFOIL_MPI_COMPONENT_SLOTS_H
#define TREFOIL_MPI_COMPONENT_SLOTS_H

#include <stddef.h>

/* CMake says the structure's name, in which each series of Open MPI has its number. */
typedef struct TREFOIL_COMPONENT_MODULE mca_coll_base_module_t;
struct ompi_communicator_t;
struct ompi_datatype_t;
struct ompi_op_t;
struct ompi_request_t;

/* The collectives that the component takes, in the order of trefoil::mpi::Kind. */
// clang-format off
#define TREFOIL_COMPONENT_SLOTS(X)                                                                 \
    X(allreduce) X(reduce) X(reduce_scatter) X(reduce_scatter_block) X(allgather) X(allgatherv)    \
    X(bcast) X(gather) X(gatherv) X(scatter) X(scatterv) X(alltoall) X(alltoallv) X(alltoallw)     \
    X(neighbor_allgather) X(neighbor_allgatherv) X(neighbor_alltoall) X(neighbor_alltoallv)        \
    X(neighbor_alltoallw) X(scan) X(exscan) X(barrier)
// clang-format on

#ifdef __cplusplus
extern "C" {
#endif

/* The function that a communicator would have without this component, and its module. */
struct trefoil_component_slot {
    void (*function)(void);
    mca_coll_base_module_t* module;
};

/* Of one of this component's modules: its slots in the order above, of calls that block, then of
 * those that do not, then of persistent ones. They live as long as the module. */
const struct trefoil_component_slot* trefoil_component_slots(mca_coll_base_module_t* module);

/* What one of this component's modules has for its communicator: its
 * trefoil::mpi::ShadowCommunicator, null at first, and a trefoil::mpi::CallRecord of zeros. */
struct trefoil_component_state {
    void* shadow;
    unsigned long record[75];
};
struct trefoil_component_state* trefoil_component_state(mca_coll_base_module_t* module);
int trefoil_component_ranks(struct ompi_communicator_t* comm);
/* All ranks of MPI_COMM_WORLD are on one host. */
int trefoil_component_is_on_one_host(void);
/* The communicator's calls of a slot go to what is below this component from now on, at no cost. 0:
 * nothing has changed, as another component is above this one. */
int trefoil_component_give_back(struct ompi_communicator_t* comm, size_t slot);
/* This component's module of a communicator; null: it has none. */
mca_coll_base_module_t* trefoil_component_module(struct ompi_communicator_t* comm);

/* caller.cpp: MPI's function of that name has that address in it. */
int trefoil_component_is_in(const char* function, const void* address);
/* component.c: a function of the table can see that MPI's function calls it. At the end of
 * MPI_Init. */
int trefoil_component_sees_callers(void);

/* True: the data of one element are the bytes from its address on, without gaps and in order. */
int trefoil_component_is_dense(struct ompi_datatype_t* type);

/* requests.c: requests for calls that are Trefoil's. `job` is a trefoil::mpi::Job. A persistent one
 * is made inactive, the other under way. Null: no memory. The communicator lives as long. */
struct ompi_request_t* trefoil_component_new_request(struct ompi_communicator_t* comm, void* job,
                                                     int persistent);
/* The call of a request has ended, with a code of MPI's. A request that is not persistent may be
 * gone when this returns. */
void trefoil_component_complete(struct ompi_request_t* request, int code);
/* Keeps a handle that the program may free, or lets go of it; null is allowed. */
void trefoil_component_hold_type(struct ompi_datatype_t* type);
void trefoil_component_hold_op(struct ompi_op_t* op);
void trefoil_component_drop_type(struct ompi_datatype_t* type);
void trefoil_component_drop_op(struct ompi_op_t* op);

/* messages.c: messages beside all others of a communicator, by a tag for each
 * trefoil::mpi::Purpose. Codes of MPI's. */
int trefoil_component_send(const void* data, size_t bytes, int to, int purpose,
                           struct ompi_communicator_t* comm, struct ompi_request_t** request);
int trefoil_component_receive(void* data, size_t bytes, int from, int purpose,
                              struct ompi_communicator_t* comm, struct ompi_request_t** request);
/* Whether a request has ended, without letting MPI go on. Then it is null, and *code tells how. */
int trefoil_component_has_ended(struct ompi_request_t** request, int* code);
/* Looks once after MPI's own messages, and keeps the core. The first one before that, while there
 * is one thread. */
void trefoil_component_note_waiting(void);
void trefoil_component_let_mpi_go_on(void);
/* The number, from above, of the communicator's next call of MPI's that does not block. */
int trefoil_component_next_tag(struct ompi_communicator_t* comm);
/* Gives that number to a call that may come later. */
int trefoil_component_reserve_tag(struct ompi_communicator_t* comm);
void trefoil_component_set_next_tag(struct ompi_communicator_t* comm, int tag);
/* From now on MPI calls trefoil_component_advance() whenever it looks after its own messages. */
void trefoil_component_watch(void);

/* presence.c: says that this rank has the component, before ranks exchange addresses; and whether
 * that rank of MPI_COMM_WORLD has said so, later. */
void trefoil_component_announce(void);
int trefoil_component_is_on(int rank);

/* events.c: waits, for some seconds at most, until Open MPI's own thread has run the events that
 * were queued for it. */
void trefoil_component_await_events(void);

/* Written in C++. The first one is called at the end of MPI_Init. */
void trefoil_component_start(void);
/* The communicator of a trefoil::mpi::ShadowCommunicator has gone. */
void trefoil_component_end_shadow(void* shadow);
/* An error of `code` is about to be returned to the program by MPI's function of that name. */
void trefoil_component_reports(struct ompi_communicator_t* comm, int code, const char* function);
/* Of the version that MPI_Get_library_version gives. */
int trefoil_component_fits(void);
/* How many calls have ended. */
int trefoil_component_advance(void);
/* Of a persistent request: begins its call; a code of MPI's. */
int trefoil_component_start_job(void* job);
void trefoil_component_free_job(void* job);

#ifdef __cplusplus
}
#endif

#endif
