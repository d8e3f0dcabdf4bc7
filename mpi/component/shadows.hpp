// SPDX-License-Identifier: BSD-3-Clause
// Where the component keeps shadow communicators: in its modules, one of which each communicator
// has, to its very end.
#pragma once

#include "mpi/component_slots.h"
#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

inline ShadowCommunicator* shadow_of(mca_coll_base_module_t* module, MPI_Comm comm) {
    if (any_shadow_parked.load(std::memory_order_relaxed)) {
        reap_shadows();
    }
    void** const place = trefoil_component_shadow(module);
    if (*place == nullptr) {
        *place = make_shadow(comm);
    }
    return static_cast<ShadowCommunicator*>(*place);
}

}  // namespace trefoil::mpi
