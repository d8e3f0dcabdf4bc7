/* SPDX-License-Identifier: BSD-3-Clause */
/* What the component's two halves say to each other. Open MPI's own headers are no C++, and the
   collectives are written in it: so component.c knows Open MPI, and gives each communicator's
   functions to entry.hpp. */
#ifndef TREFOIL_MPI_COMPONENT_SLOTS_H
#define TREFOIL_MPI_COMPONENT_SLOTS_H

struct mca_coll_base_module_2_3_0_t;
struct ompi_datatype_t;

/* The collectives that the component takes, in the order of trefoil::mpi::Kind. */
// clang-format off
#define TREFOIL_COMPONENT_SLOTS(X)                                                                 \
    X(allreduce) X(reduce) X(reduce_scatter) X(reduce_scatter_block) X(allgather) X(allgatherv)    \
    X(bcast) X(gather) X(gatherv) X(scatter) X(scatterv) X(alltoall) X(alltoallv) X(scan)          \
    X(exscan) X(barrier)
// clang-format on

#ifdef __cplusplus
extern "C" {
#endif

/* The function that a communicator would have without this component, and its module. */
struct trefoil_component_slot {
    void (*function)(void);
    struct mca_coll_base_module_2_3_0_t* module;
};

/* Of one of this component's modules: its slots, in the order above. They live as long as the
 * module. */
const struct trefoil_component_slot* trefoil_component_slots(
    struct mca_coll_base_module_2_3_0_t* module);

/* True: the data of one element are the bytes from its address on, without gaps and in order. */
int trefoil_component_is_dense(struct ompi_datatype_t* type);

/* Written in C++. The first two are called at the end of MPI_Init and at the beginning of
 * MPI_Finalize. */
void trefoil_component_start(void);
void trefoil_component_finish(void);
/* Of the version that MPI_Get_library_version gives. */
int trefoil_component_fits(void);

#ifdef __cplusplus
}
#endif

#endif
