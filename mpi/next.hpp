// SPDX-License-Identifier: BSD-3-Clause
// The function of a name that the layer has taken: that of the MPI library behind it.
#pragma once

#include <dlfcn.h>

namespace trefoil::mpi {

template <typename Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace trefoil::mpi
