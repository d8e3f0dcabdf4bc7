// SPDX-License-Identifier: BSD-3-Clause
// The layer's beginning and end, and the end of communicators.
#include "mpi/layer.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "mpi/agreement.hpp"
#include "mpi/dispatch.hpp"
#include "mpi/library_check.hpp"
#include "mpi/operations.hpp"
#include "mpi/report.hpp"
#include "mpi/shadow_communicator.hpp"
#include "mpi/types.hpp"
#include "mpi/words.hpp"

namespace trefoil::mpi {

Layer layer;

namespace {

std::string variable(const char* name) {
    const char* const value = secure_getenv(name);  // null in a set-uid program, as in Trefoil
    return value == nullptr ? "" : value;
}

/// Of launchers, before MPI can say who is who.
bool is_first_rank() {
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
        const std::string rank = variable(name);
        if (!rank.empty()) {
            return rank == "0";
        }
    }
    return true;
}

/// With the wrong libraries not even MPI_Abort would be safe to call.
void require_right_libraries() {
    const std::string problem = wrong_libraries();
    if (problem.empty()) {
        return;
    }
    if (is_first_rank()) {
        say(TREFOIL_LOG_ERROR, problem);
    } else {
        sleep(1);  // the launcher ends all ranks when one ends: let the first speak
    }
    _exit(EXIT_FAILURE);
}

/// The packed form that mpi/buffers.cpp relies on.
bool plain_packing() {
    const int numbers[3] = {1, -2, 0x01020304};
    char packed[2 * sizeof numbers] = {};
    int position = 0;
    PMPI_Pack(numbers, 3, MPI_INT, packed, sizeof packed, &position, MPI_COMM_SELF);
    return position == static_cast<int>(sizeof numbers) &&
           std::memcmp(packed, numbers, sizeof numbers) == 0;
}

/// A variable that is 0 or 1; `problem` says if it is neither.
bool flag(const char* name, std::string& problem) {
    const std::string value = variable(name);
    if (!value.empty() && value != "0" && value != "1") {
        problem = name + ("=" + value) + " is not valid: give 0 or 1";
    }
    return value == "1";
}

/// Reads TREFOIL_MPI and its like; returns what is wrong with them.
std::string read_settings() {
    std::string problem;
    layer.reports = flag("TREFOIL_MPI_REPORT", problem);
    layer.tunes = flag("TREFOIL_MPI_TUNE", problem);
    if (!problem.empty()) {
        return problem;
    }
    const double seconds = std::atof(variable("TREFOIL_TIMEOUT").c_str());
    if (seconds > 0 && seconds < 1e6) {  // what is wrong with it Trefoil itself says
        layer.patience = std::chrono::milliseconds(static_cast<long long>(seconds * 1000) + 1);
    }
    const std::string text = variable("TREFOIL_MPI");
    try {
        layer.switches = Switches(text);
    } catch (const std::invalid_argument& error) {
        return "TREFOIL_MPI=" + text + " is not valid: " + error.what();
    }
    return {};
}

/// What must be equal on all ranks.
std::string settings_text() {
    const std::string mpi = variable("TREFOIL_MPI");
    return "TREFOIL_MPI=" + (mpi.empty() ? "on" : mpi) +
           " TREFOIL_MPI_REPORT=" + std::to_string(layer.reports) +
           " TREFOIL_MPI_TUNE=" + std::to_string(layer.tunes) + " version " +
           trefoil_version_string() + (plain_packing() ? "" : " (its MPI does not pack plainly)");
}

void start() {
    const std::string problem = read_settings();
    agree_or_abort(settings_text(), problem);
    if (!plain_packing()) {
        layer.switches = Switches("off");
    }
    bool any = false;
    for (std::size_t k = 0; k < kinds; ++k) {
        layer.looks_at[k] = layer.reports || layer.switches.on(static_cast<Kind>(k));
        any = any || layer.looks_at[k];
    }
    if (any) {
        learn_types();
        learn_operations();
        PMPI_Comm_dup(MPI_COMM_SELF, &layer.alone);
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

}  // namespace

}  // namespace trefoil::mpi

using namespace trefoil::mpi;

TREFOIL_MPI_CALL MPI_Init(int* argc, char*** argv) {
    require_right_libraries();
    const int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) {
        start();
    }
    return code;
}

TREFOIL_MPI_CALL MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    require_right_libraries();
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) {
        start();
    }
    return code;
}

TREFOIL_MPI_CALL MPI_Finalize(void) {
    finish();
    return PMPI_Finalize();
}

TREFOIL_MPI_CALL MPI_Comm_free(MPI_Comm* comm) {
    if (layer.alone != MPI_COMM_NULL && comm != nullptr) {
        settle(*comm);
    }
    return PMPI_Comm_free(comm);
}

TREFOIL_MPI_CALL MPI_Comm_disconnect(MPI_Comm* comm) {
    if (layer.alone != MPI_COMM_NULL && comm != nullptr) {
        settle(*comm);
    }
    return PMPI_Comm_disconnect(comm);
}
