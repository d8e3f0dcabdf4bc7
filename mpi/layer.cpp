// SPDX-License-Identifier: BSD-3-Clause
// The layer's beginning and end, whichever way it came into the program.
#include "mpi/layer.hpp"

#include <string>

#include "mpi/agreement.hpp"
#include "mpi/report.hpp"
#include "mpi/settings.hpp"
#include "mpi/shadow_communicator.hpp"
#include "mpi/types.hpp"

namespace trefoil::mpi {

void start() {
    const std::string problem = read_settings();
    agree_or_abort(settings_text() + (plain_packing() ? "" : " (its MPI does not pack plainly)"),
                   problem);
    if (!layer.has_time_out) {
        layer.patience = no_end;
    }
    if (look_at_calls()) {
        PMPI_Comm_dup(MPI_COMM_SELF, &layer.alone);
        PMPI_Comm_set_errhandler(layer.alone, MPI_ERRORS_RETURN);
    }
}

/// What is called later, by MPI's own end, goes to the MPI below.
void finish() {
    layer.looks_at = {};
    if (layer.alone == MPI_COMM_NULL) {
        return;
    }
    if (layer.reports) {
        print_report();
    }
    end_shadows();
    forget_layouts();
    PMPI_Comm_free(&layer.alone);
}

}  // namespace trefoil::mpi
