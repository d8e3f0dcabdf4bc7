// SPDX-License-Identifier: BSD-3-Clause
// One error code per status, in MPI's class that comes nearest; its text is that of the last error.
#include "mpi/errors.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "mpi/words.hpp"

namespace trefoil::mpi {

namespace {

int class_of(trefoil_status_t status) {
    switch (status) {
        case TREFOIL_ERROR_INVALID_ARGUMENT:
            return MPI_ERR_ARG;
        case TREFOIL_ERROR_MISMATCH:  // of lengths, as a rule, and MPI's class of it
            return MPI_ERR_TRUNCATE;
        case TREFOIL_ERROR_UNSUPPORTED:
            return MPI_ERR_UNSUPPORTED_OPERATION;
        case TREFOIL_ERROR_OUT_OF_MEMORY:
            return MPI_ERR_NO_MEM;
        case TREFOIL_ERROR_INTERNAL:
            return MPI_ERR_INTERN;
        default:
            return MPI_ERR_OTHER;
    }
}

/// MPICH shows the texts of codes only in classes that were added, too: what has a class of its own
/// in MPI keeps it, and its text is lost.
int make_code(int error_class, int& code) {
    if (!is_mpich()) {
        return PMPI_Add_error_code(error_class, &code);
    }
    return error_class == MPI_ERR_OTHER || error_class == MPI_ERR_INTERN
               ? PMPI_Add_error_class(&code)
               : MPI_ERR_OTHER;
}

int code_for(trefoil_status_t status, const std::string& message) {
    static std::mutex mutex;
    static std::array<int, TREFOIL_ERROR_ABORTED + 1> codes{};
    const std::lock_guard lock(mutex);
    int& code = codes[static_cast<std::size_t>(status)];
    if (code == 0 && make_code(class_of(status), code) != MPI_SUCCESS) {
        return class_of(status);
    }
    std::string text = "Trefoil: " + message;
    text.resize(std::min<std::size_t>(text.size(), MPI_MAX_ERROR_STRING - 1));
    PMPI_Add_error_string(code, text.c_str());
    return code;
}

}  // namespace

int raise(MPI_Comm comm, trefoil_status_t status, const std::string& message) {
    if (status == TREFOIL_ERROR_MISMATCH) {
        say(TREFOIL_LOG_INFO, message);  // what its class does not tell
    }
    return raise_class(comm, code_for(status, message));
}

int raise_class(MPI_Comm comm, int error_class) {
    if constexpr (!is_component) {  // Open MPI does that with what a component returns
        PMPI_Comm_call_errhandler(comm, error_class);
    }
    return error_class;
}

}  // namespace trefoil::mpi
