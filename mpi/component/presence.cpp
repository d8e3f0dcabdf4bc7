// SPDX-License-Identifier: BSD-3-Clause
// Presence by Open MPI's exchange of addresses.
#include "mpi/presence.hpp"

#include "mpi/allgather.hpp"
#include "mpi/component_slots.h"

namespace trefoil::mpi {

const char* const what_is_present = "Trefoil's component";

namespace {

constexpr auto purpose = static_cast<int>(Purpose::presence);

bool finish(MPI_Request request) {
    int code = MPI_SUCCESS;
    while (trefoil_component_has_ended(&request, &code) == 0) {
        trefoil_component_let_mpi_go_on();
    }
    return code == MPI_SUCCESS;
}

}  // namespace

bool can_ask_for_presence() {
    return true;
}

bool is_present(int rank) {
    return trefoil_component_is_on(rank) != 0;
}

void tell_presence(bool value, int to) {
    MPI_Request request = nullptr;
    const char byte = value ? 1 : 0;
    trefoil_component_send(&byte, 1, to, purpose, MPI_COMM_WORLD, &request);
    finish(request);
}

bool hear_presence(int from) {
    MPI_Request request = nullptr;
    char byte = 0;
    return trefoil_component_receive(&byte, 1, from, purpose, MPI_COMM_WORLD, &request) ==
               MPI_SUCCESS &&
           finish(request) && byte != 0;
}

}  // namespace trefoil::mpi
