// SPDX-License-Identifier: BSD-3-Clause
// Where MPI's functions are, by the symbols of its library.
#include "mpi/component/caller.hpp"

#include <dlfcn.h>
#include <link.h>

#include "mpi/component_slots.h"

namespace trefoil::mpi {

/// Where it is not found, or its end is not known, no call is its.
std::uintptr_t MpiFunction::look_up() {
    void* function = dlsym(RTLD_DEFAULT, name_);
    if (function == nullptr && other_name_ != nullptr) {
        function = dlsym(RTLD_DEFAULT, other_name_);
    }
    Dl_info info{};
    void* symbol = nullptr;
    std::uintptr_t begin = 1;
    if (function != nullptr && dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) != 0 &&
        symbol != nullptr && info.dli_saddr == function) {
        begin = reinterpret_cast<std::uintptr_t>(function);
        bytes_.store(static_cast<const ElfW(Sym)*>(symbol)->st_size, std::memory_order_relaxed);
    }
    begin_.store(begin, std::memory_order_release);
    return begin;
}

}  // namespace trefoil::mpi

using trefoil::mpi::MpiFunction;

int trefoil_component_is_in(const char* function, const void* address) {
    return MpiFunction(function).has(address) ? 1 : 0;
}
