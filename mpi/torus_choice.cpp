// SPDX-License-Identifier: BSD-3-Clause
// The torus of an MPI communicator. Trefoil itself finds the nodes of what has no torus of its own.
#include "mpi/torus_choice.hpp"

#include <algorithm>

namespace trefoil::mpi {

namespace {

/// Empty unless `comm` is a torus. Dimensions of size 1 have no links.
std::string cartesian_torus(MPI_Comm comm) {
    std::string torus;
    for (const int size : periodic_sizes(comm)) {
        if (size > 1) {
            torus += (torus.empty() ? "" : "x") + std::to_string(size);
        }
    }
    return torus;
}

}  // namespace

std::vector<int> periodic_sizes(MPI_Comm comm) {
    int topology = MPI_UNDEFINED, dimensions = 0;
    PMPI_Topo_test(comm, &topology);
    if (topology != MPI_CART) {
        return {};
    }
    PMPI_Cartdim_get(comm, &dimensions);
    std::vector<int> sizes(static_cast<std::size_t>(dimensions)), periods(sizes), place(sizes);
    PMPI_Cart_get(comm, dimensions, sizes.data(), periods.data(), place.data());
    const bool is_torus = std::ranges::all_of(periods, [](int period) { return period != 0; });
    return is_torus ? sizes : std::vector<int>();
}

TorusChoice torus_of(MPI_Comm comm) {
    if (std::string torus = cartesian_torus(comm); !torus.empty()) {
        return {
            .torus = std::move(torus), .source = "the Cartesian communicator", .cartesian = true};
    }
    int likeness = MPI_UNEQUAL;
    PMPI_Comm_compare(comm, MPI_COMM_WORLD, &likeness);
    if (likeness == MPI_IDENT || likeness == MPI_CONGRUENT) {
        return {.is_of_world = true};
    }
    return {.torus = "2d", .source = "balanced, as for any part of MPI_COMM_WORLD"};
}

}  // namespace trefoil::mpi
