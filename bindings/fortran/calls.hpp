// SPDX-License-Identifier: BSD-3-Clause
// One call from Fortran: its three forms, and what becomes of its errors.
#pragma once

#include <string>

#include "trefoil/trefoil.h"

namespace trefoil::fortran {

/// Ends a call: its status goes to `ierror`, or, if the caller gave none, an error ends the program
/// with its text.
void finish(const char* call, trefoil_status_t status, const std::string& text, int* ierror);
/// Of the last call of this thread that failed.
const std::string& last_error();
/// Likewise, of Refused and its like.
trefoil_status_t status_of_exception(std::string& text);

/// Runs `work`, which returns a status.
template <typename Work>
void guarded(const char* call, int* ierror, Work&& work) {
    trefoil_status_t status = TREFOIL_SUCCESS;
    std::string text;
    try {
        status = work();
        if (status != TREFOIL_SUCCESS) {
            text = trefoil_last_error(nullptr);
        }
    } catch (...) {
        status = status_of_exception(text);
    }
    finish(call, status, text, ierror);
}

enum class Form { blocking, nonblocking, persistent };

/// Where a call goes.
struct How {
    Form form = Form::blocking;
    trefoil_comm_t comm{};
    trefoil_request_t* request = nullptr;
    const int* datatype = nullptr;  ///< the caller's word, or null

    /// `forms` has the three functions of the C interface.
    template <typename Forms, typename... Arguments>
    trefoil_status_t operator()(const Forms& forms, Arguments... arguments) const {
        switch (form) {
            case Form::nonblocking:
                return forms.begun(arguments..., comm, request);
            case Form::persistent:
                return forms.prepared(arguments..., comm, request);
            default:
                return forms.blocking(arguments..., comm);
        }
    }
    int ranks() const {
        int ranks = 1;
        trefoil_comm_size(comm, &ranks);
        return ranks;
    }
    int rank() const {
        int rank = 0;
        trefoil_comm_rank(comm, &rank);
        return rank;
    }
    int neighbours() const {
        int dimensions = 0;
        trefoil_comm_torus(comm, &dimensions, nullptr, 0);
        return 2 * dimensions;
    }
};

/// What the module calls.
#define TREFOIL_FORTRAN_CALL extern "C" [[gnu::visibility("default")]] void

}  // namespace trefoil::fortran
