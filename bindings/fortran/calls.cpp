// SPDX-License-Identifier: BSD-3-Clause
// Errors of calls from Fortran.
#include "bindings/fortran/calls.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "bindings/fortran/arrays.hpp"

namespace trefoil::fortran {

namespace {

thread_local std::string last_text;

}  // namespace

void finish(const char* call, trefoil_status_t status, const std::string& text, int* ierror) {
    if (ierror != nullptr) {
        *ierror = status;
    }
    if (status == TREFOIL_SUCCESS) {
        return;
    }
    last_text = text.empty() ? trefoil_status_string(status) : text;
    if (ierror == nullptr) {
        std::fprintf(stderr, "trefoil_%s: %s\n", call, last_text.c_str());
        std::exit(EXIT_FAILURE);
    }
}

const std::string& last_error() {
    return last_text;
}

trefoil_status_t status_of_exception(std::string& text) {
    try {
        throw;
    } catch (const Refused& refused) {
        text = refused.what();
        return TREFOIL_ERROR_INVALID_ARGUMENT;
    } catch (const std::bad_alloc&) {
        text = "out of memory";
        return TREFOIL_ERROR_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        text = error.what();
        return TREFOIL_ERROR_INTERNAL;
    }
}

}  // namespace trefoil::fortran
