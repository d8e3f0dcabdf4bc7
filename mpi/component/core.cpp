// SPDX-License-Identifier: BSD-3-Clause
// The component's beginning and end.
#include "mpi/component/dispatch_jobs.hpp"

#include <iterator>
#include <string>
#include <string_view>

namespace trefoil::mpi {

namespace {

#define TREFOIL_NAME_OF_SLOT(name) #name,
constexpr std::string_view slot_names[] = {TREFOIL_COMPONENT_SLOTS(TREFOIL_NAME_OF_SLOT)};
#undef TREFOIL_NAME_OF_SLOT

constexpr bool slots_are_kinds() {
    for (const KindTraits& row : kind_rows) {
        if (slot_names[slot_of(row.kind, Way::blocking)] != row.name) {
            return false;
        }
    }
    return std::size(slot_names) == kinds;
}
static_assert(slots_are_kinds(), "the slots are the collectives, in their order");

}  // namespace

}  // namespace trefoil::mpi

using namespace trefoil::mpi;

void trefoil_component_start() {
    start();
}

void trefoil_component_finish() {
    finish_jobs();
    finish();
}

/// One series: the structures that components share change between them.
int trefoil_component_fits() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    PMPI_Get_library_version(text, &length);
    const std::string series = "Open MPI v" + std::to_string(OMPI_MAJOR_VERSION) + "." +
                               std::to_string(OMPI_MINOR_VERSION) + ".";
    return std::string_view(text).starts_with(series) ? 1 : 0;
}
