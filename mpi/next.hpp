// SPDX-License-Identifier: BSD-3-Clause
// The function of a name that the layer has taken: that of whatever comes behind it, which is the
// MPI library, or a tool that was preloaded after the layer.
#pragma once

#include <dlfcn.h>

#include <utility>

namespace trefoil::mpi {

template <typename Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// While it lives, this thread's call has been handed on: what a tool calls by a name with PMPI_
/// that the layer has taken, too, is the same call once more, and goes to the MPI library.
class HandedOn {
  public:
    HandedOn() : outer_(std::exchange(here(), true)) {}
    ~HandedOn() { here() = outer_; }
    HandedOn(const HandedOn&) = delete;
    HandedOn& operator=(const HandedOn&) = delete;

    static bool& here() {
        [[gnu::tls_model("initial-exec")]] static thread_local bool is_here = false;
        return is_here;
    }

  private:
    bool outer_;
};

}  // namespace trefoil::mpi
