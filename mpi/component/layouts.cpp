// SPDX-License-Identifier: BSD-3-Clause
// How derived datatypes lie in memory, as Open MPI knows it. Its own collectives make some that
// have no contents to ask for.
#include "mpi/component_slots.h"
#include "mpi/types.hpp"

namespace trefoil::mpi {

std::optional<Layout> layout_of(MPI_Datatype type) {
    if (const TypeEntry* const entry = find_type(type)) {
        return Layout{entry->size, static_cast<std::ptrdiff_t>(entry->extent),
                      entry->size == entry->extent};
    }
    MPI_Count size = 0;
    MPI_Aint lower = 0, extent = 0;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS) {
        return std::nullopt;
    }
    PMPI_Type_get_extent(type, &lower, &extent);
    return Layout{static_cast<std::size_t>(size), extent, trefoil_component_is_dense(type) != 0};
}

void forget_layouts() {}

}  // namespace trefoil::mpi
