// SPDX-License-Identifier: BSD-3-Clause
// Who calls the component: the function of the collective, or Open MPI for something else.
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "mpi/dispatch.hpp"

namespace trefoil::mpi {

bool is_called_for_mpi_itself(Kind kind, const void* caller) {
    Dl_info info{};
    if (dladdr(caller, &info) == 0) {
        return false;
    }
    // PMPI_Barrier, which Fortran's functions call, too; or MPI_Barrier.
    const std::string_view function = info.dli_sname != nullptr ? info.dli_sname : "";
    const std::size_t end_of_prefix = std::min(function.find('_'), function.size() - 1) + 1;
    return !std::ranges::equal(function.substr(end_of_prefix), kind_rows[index(kind)].name, {},
                               [](unsigned char c) { return std::tolower(c); });
}

}  // namespace trefoil::mpi
