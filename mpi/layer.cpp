// SPDX-License-Identifier: BSD-3-Clause
// The layer's beginning and end, whichever way it came into the program.
#include "mpi/layer.hpp"

#include <string>

#include "mpi/agreement.hpp"
#include "mpi/presence.hpp"
#include "mpi/report.hpp"
#include "mpi/settings.hpp"
#include "mpi/shadow_communicator.hpp"
#include "mpi/types.hpp"

namespace trefoil::mpi {

namespace {

/// In MPI_Finalize, on all ranks. What is called later, by MPI's own end, goes to the MPI below.
int finish(MPI_Comm, int, void*, void*) {
    finish_jobs();
    layer.looks_at = {};
    if (layer.reports) {
        print_report();
    }
    end_shadows();
    forget_layouts();
    PMPI_Comm_free(&layer.alone);
    return MPI_SUCCESS;
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF first of all, the last one that was set
/// first. What the program has attached may still call whatever it likes, while other ranks have
/// not come to MPI_Finalize.
void finish_with_mpi() {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &key, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    PMPI_Comm_free_keyval(&key);
}

}  // namespace

void start() {
    layer.budget.begin(Budget::Clock::now());
    std::string problem = read_settings();
    if (problem.empty()) {
        problem = what_mpi_lacks();
    }
    if (!all_take_part() || !agree(settings_text(), problem)) {
        return;
    }
    if (!layer.has_time_out) {
        layer.patience = no_end;
    }
    if (look_at_calls()) {
        PMPI_Comm_dup(MPI_COMM_SELF, &layer.alone);
        PMPI_Comm_set_errhandler(layer.alone, MPI_ERRORS_RETURN);
        finish_with_mpi();
    }
}

}  // namespace trefoil::mpi
