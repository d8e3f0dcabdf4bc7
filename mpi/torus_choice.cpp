// SPDX-License-Identifier: BSD-3-Clause
// The torus of an MPI communicator. Trefoil itself finds the nodes of what has no torus of its own.
#include "mpi/torus_choice.hpp"

#include <algorithm>
#include <vector>

namespace trefoil::mpi {

namespace {

/// Empty unless `comm` is Cartesian with nothing but periodic dimensions. Both libraries number
/// ranks row-major; dimensions of size 1 have no links.
std::string cartesian_torus(MPI_Comm comm) {
    int topology = MPI_UNDEFINED, dimensions = 0;
    PMPI_Topo_test(comm, &topology);
    if (topology != MPI_CART) {
        return {};
    }
    PMPI_Cartdim_get(comm, &dimensions);
    std::vector<int> sizes(static_cast<std::size_t>(dimensions)), periods(sizes), place(sizes);
    PMPI_Cart_get(comm, dimensions, sizes.data(), periods.data(), place.data());
    std::string torus;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] > 1) {
            torus += (torus.empty() ? "" : "x") + std::to_string(sizes[d]);
        }
    }
    const bool is_torus = std::ranges::all_of(periods, [](int period) { return period != 0; });
    return is_torus ? torus : std::string();
}

}  // namespace

TorusChoice torus_of(MPI_Comm comm) {
    if (std::string torus = cartesian_torus(comm); !torus.empty()) {
        return {std::move(torus), "the Cartesian communicator"};
    }
    int likeness = MPI_UNEQUAL;
    PMPI_Comm_compare(comm, MPI_COMM_WORLD, &likeness);
    if (likeness == MPI_IDENT || likeness == MPI_CONGRUENT) {
        return {};
    }
    return {"2d", "balanced, as for any part of MPI_COMM_WORLD"};
}

}  // namespace trefoil::mpi
