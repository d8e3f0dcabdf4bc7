/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil as a component of Open MPI's framework `coll`: each communicator of two ranks and more
   gets Trefoil's functions, which keep those that it would have had, for what is left to MPI. */
#include <ompi_config.h>

#include <link.h>
#include <stdarg.h>
#include <string.h>

#include <ompi/communicator/communicator.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/errhandler/errhandler.h>
#include <ompi/mca/coll/base/base.h>
#include <ompi/mca/coll/base/coll_base_util.h>
#include <ompi/mca/coll/coll.h>
#include <ompi/mca/hook/base/base.h>
#include <ompi/request/request.h>
#include <opal/class/opal_free_list.h>
#include <opal/mca/base/mca_base_var.h>
#include <opal/util/proc.h>
#include "mpi/component_slots.h"

/* As MPI names a call that blocks, one that does not, and a persistent one. */
#define EACH_WAY(X, name) X(name) X(i##name) X(name##_init)

enum {
#define NUMBER(name) slot_##name,
#define NUMBER_I(name) slot_i##name,
#define NUMBER_INIT(name) slot_##name##_init,
    TREFOIL_COMPONENT_SLOTS(NUMBER) TREFOIL_COMPONENT_SLOTS(NUMBER_I)
        TREFOIL_COMPONENT_SLOTS(NUMBER_INIT)
#undef NUMBER
#undef NUMBER_I
#undef NUMBER_INIT
            slots
};

static int priority = 95;

#ifdef MCA_COLL_BASE_VERSION_2_4_0 /* Open MPI 5.0; before it the name stayed what it was */
#define COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#else
#define COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#endif

typedef struct {
    mca_coll_base_module_t super;
    struct trefoil_component_state state;
    struct trefoil_component_slot below[slots];
} module_t;

static void module_construct(module_t* module) {
    memset(&module->state, 0, sizeof module->state);
}

/* With its communicator. */
static void module_destruct(module_t* module) {
    if (module->state.shadow != NULL) {
        trefoil_component_end_shadow(module->state.shadow);
    }
}

static OBJ_CLASS_INSTANCE(module_t, mca_coll_base_module_t, module_construct, module_destruct);

const struct trefoil_component_slot* trefoil_component_slots(mca_coll_base_module_t* module) {
    return ((module_t*)module)->below;
}

struct trefoil_component_state* trefoil_component_state(mca_coll_base_module_t* module) {
    return &((module_t*)module)->state;
}

static int is_ours(const mca_coll_base_module_t* module) {
    return module != NULL && module->super.obj_class == OBJ_CLASS(module_t);
}

/* Other components may have some of the functions. */
mca_coll_base_module_t* trefoil_component_module(ompi_communicator_t* comm) {
    const mca_coll_base_comm_coll_t* const table = comm->c_coll;
#define FIND_ONE(name)                          \
    if (is_ours(table->coll_##name##_module)) { \
        return table->coll_##name##_module;     \
    }
#define FIND(name) EACH_WAY(FIND_ONE, name)
    if (table != NULL) {
        TREFOIL_COMPONENT_SLOTS(FIND)
    }
#undef FIND
#undef FIND_ONE
    return NULL;
}

int trefoil_component_give_back(ompi_communicator_t* comm, size_t slot) {
    mca_coll_base_comm_coll_t* const table = comm->c_coll;
    switch (slot) {
/* The communicator releases what it has when it ends. */
#define GIVE_BACK_ONE(name)                                                                  \
    case slot_##name: {                                                                      \
        if (!is_ours(table->coll_##name##_module)) {                                         \
            return 0;                                                                        \
        }                                                                                    \
        module_t* mine = (module_t*)table->coll_##name##_module;                             \
        memcpy(&table->coll_##name, &mine->below[slot].function, sizeof table->coll_##name); \
        table->coll_##name##_module = mine->below[slot].module;                              \
        OBJ_RETAIN(table->coll_##name##_module);                                             \
        OBJ_RELEASE(mine);                                                                   \
        return 1;                                                                            \
    }
        TREFOIL_COMPONENT_SLOTS(GIVE_BACK_ONE)
#undef GIVE_BACK_ONE
        default:
            return 0;
    }
}

static const void* probed; /* the address to which the probe returned */

static int probe(ompi_communicator_t* comm, mca_coll_base_module_t* module) {
    (void)comm, (void)module;
    probed = __builtin_return_address(0);
    return OMPI_SUCCESS;
}
static int probe_i(ompi_communicator_t* comm, ompi_request_t** request,
                   mca_coll_base_module_t* module) {
    (void)request;
    (void)comm, (void)module;
    probed = __builtin_return_address(0);
    return OMPI_SUCCESS;
}

/* In MPI_COMM_WORLD's table, while no other thread is in MPI. */
int trefoil_component_sees_callers(void) {
    mca_coll_base_comm_coll_t* const table = ompi_mpi_comm_world.comm.c_coll;
    if (ompi_comm_size(MPI_COMM_WORLD) < 2) {
        return 1;
    }
    const mca_coll_base_comm_coll_t saved = *table;
    ompi_request_t* request = MPI_REQUEST_NULL;
    table->coll_barrier = probe;
    table->coll_ibarrier = probe_i;
    probed = NULL;
    PMPI_Barrier(MPI_COMM_WORLD);
    int sees = trefoil_component_is_in("PMPI_Barrier", probed);
    probed = NULL;
    PMPI_Ibarrier(MPI_COMM_WORLD, &request);
    sees = sees && trefoil_component_is_in("PMPI_Ibarrier", probed);
    table->coll_barrier = saved.coll_barrier;
    table->coll_ibarrier = saved.coll_ibarrier;
    return sees;
}

int trefoil_component_ranks(ompi_communicator_t* comm) {
    return ompi_comm_size(comm);
}

int trefoil_component_is_on_one_host(void) {
    return (int)opal_process_info.num_local_peers + 1 == ompi_comm_size(MPI_COMM_WORLD);
}

int trefoil_component_is_dense(ompi_datatype_t* type) {
    return (type->super.flags & OPAL_DATATYPE_FLAG_CONTIGUOUS) != 0 && type->super.true_lb == 0;
}

/* In C++, by entry.hpp: trefoil_component_NAME, with the arguments that the slot of that name has.
 */
#define DECLARE_ONE(name) extern int trefoil_component_##name();
#define DECLARE(name) EACH_WAY(DECLARE_ONE, name)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
TREFOIL_COMPONENT_SLOTS(DECLARE)
#pragma GCC diagnostic pop
#undef DECLARE
#undef DECLARE_ONE

/* Modules are enabled from the lowest priority to the highest, so the table has what comes below
 * this one. The communicator itself holds all that were enabled, in its list of modules. */
static int enable(mca_coll_base_module_t* base, ompi_communicator_t* comm) {
    module_t* const module = (module_t*)base;
    const mca_coll_base_comm_coll_t* const table = comm->c_coll;
/* What is missing below, such as neighbour collectives of what has no neighbours, stays so. */
#define SAVE_ONE(name)                                                        \
    module->below[slot_##name].function = (void (*)(void))table->coll_##name; \
    module->below[slot_##name].module = table->coll_##name##_module;          \
    if (table->coll_##name == NULL) {                                         \
        base->coll_##name = NULL;                                             \
    }
#define SAVE(name) EACH_WAY(SAVE_ONE, name)
    TREFOIL_COMPONENT_SLOTS(SAVE)
#undef SAVE
#undef SAVE_ONE
    return OMPI_SUCCESS;
}

/* The communicator inside a group of an intercommunicator is Open MPI's, and only its collectives
 * between groups call it; some ranks by a jump, which leaves the address of the program's call. */
static void leave(ompi_communicator_t* local) {
    for (size_t slot = 0; local != NULL && local->c_coll != NULL && slot < slots; ++slot) {
        trefoil_component_give_back(local, slot);
    }
}

static mca_coll_base_module_t* comm_query(ompi_communicator_t* comm, int* its_priority) {
    *its_priority = priority;
    if (OMPI_COMM_IS_INTER(comm)) {
        leave(comm->c_local_comm);
        return NULL;
    }
    if (ompi_comm_size(comm) < 2) {
        return NULL;
    }
    module_t* const module = OBJ_NEW(module_t);
    module->super.coll_module_enable = enable;
#define TAKE_ONE(name) module->super.coll_##name = trefoil_component_##name;
#define TAKE(name) EACH_WAY(TAKE_ONE, name)
    TREFOIL_COMPONENT_SLOTS(TAKE)
#undef TAKE
#undef TAKE_ONE
    return &module->super;
}

static int register_parameters(void);
static int open_component(void);

OMPI_DECLSPEC OBJ_CLASS_DECLARATION(ompi_errhandler_t);

/* Open MPI looks at a call's arguments before it calls a component. What it finds wrong it tells
   the error handler alone; of those that let the program go on, this one of its own can be listened
   to.
 */
static MPI_Comm_errhandler_function* return_errors;

static void note_error(MPI_Comm* comm, int* code, ...) {
    va_list list;
    va_start(list, code);
    const char* const function = va_arg(list, const char*);
    va_end(list);
    if (function != NULL) {
        trefoil_component_reports(*comm, *code, function);
    }
    return_errors(comm, code, function, NULL);
}

static void listen_to_errors(void) {
    return_errors = ompi_mpi_errors_return.eh.eh_comm_fn;
    ompi_mpi_errors_return.eh.eh_comm_fn = note_error;
}

static void at_init(int argc, char** argv, int requested, int* provided) {
    (void)argc, (void)argv, (void)requested, (void)provided;
    trefoil_component_note_waiting();
    trefoil_component_start();
    listen_to_errors();
}

static void at_finalize(void) {
    ompi_mpi_errors_return.eh.eh_comm_fn = return_errors;
    trefoil_component_await_events();
}

static ompi_hook_base_component_t hooks = {
    .hookm_mpi_init_bottom = at_init,
    .hookm_mpi_finalize_top = at_finalize,
};

static int init_query(bool progress_threads, bool mpi_threads) {
    (void)progress_threads, (void)mpi_threads;
    return ompi_hook_base_register_callbacks(&hooks);
}

__attribute__((visibility("default"))) mca_coll_base_component_t mca_coll_trefoil_component = {
    .collm_version = {COLL_VERSION, .mca_component_name = "trefoil",
                      MCA_BASE_MAKE_VERSION(component, TREFOIL_VERSION_MAJOR, TREFOIL_VERSION_MINOR,
                                            TREFOIL_VERSION_PATCH),
                      .mca_open_component = open_component,
                      .mca_register_component_params = register_parameters},
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT, {0}},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};

static int register_parameters(void) {
    return mca_base_component_var_register(
               &mca_coll_trefoil_component.collm_version, "priority",
               "Priority of Trefoil among the components for collectives; negative: not used",
               MCA_BASE_VAR_TYPE_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_9,
               MCA_BASE_VAR_SCOPE_READONLY, &priority) < 0
               ? OMPI_ERROR
               : OMPI_SUCCESS;
}

static int is_layer(struct dl_phdr_info* object, size_t bytes, void* found) {
    (void)bytes;
    *(int*)found |=
        object->dlpi_name != NULL && strstr(object->dlpi_name, "/libtrefoil_mpi_openmpi.") != NULL;
    return 0;
}

/* Open MPI loads components of other builds of its own, too: what they share must have the same
 * size. */
static int open_component(void) {
    int has_layer = 0;
    dl_iterate_phdr(is_layer, &has_layer);
    const int fits =
        OBJ_CLASS(ompi_communicator_t)->cls_sizeof == sizeof(ompi_communicator_t) &&
        OBJ_CLASS(mca_coll_base_module_t)->cls_sizeof == sizeof(mca_coll_base_module_t) &&
        OBJ_CLASS(ompi_request_t)->cls_sizeof == sizeof(ompi_request_t) &&
        OBJ_CLASS(ompi_errhandler_t)->cls_sizeof == sizeof(ompi_errhandler_t) &&
        OBJ_CLASS(ompi_coll_base_nbc_request_t)->cls_sizeof ==
            sizeof(ompi_coll_base_nbc_request_t) &&
        OBJ_CLASS(opal_free_list_t)->cls_sizeof == sizeof(opal_free_list_t) &&
        trefoil_component_fits();
    if (!fits || has_layer || priority < 0) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    trefoil_component_announce();
    return OMPI_SUCCESS;
}
