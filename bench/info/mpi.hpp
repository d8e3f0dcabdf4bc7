// SPDX-License-Identifier: BSD-3-Clause
// `trefoil info --mpi`: which MPIs are here, and how their programs come to run by Trefoil.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace trefoil::tool {

/// Where Trefoil's files for an MPI may be, the first that is there counts.
struct MpiPlaces {
    /// Folders in which Open MPI looks by itself: the user's, the machine's.
    std::vector<std::filesystem::path> found_by_openmpi;
    std::vector<std::filesystem::path> components;  ///< other folders that may have the component
    std::vector<std::filesystem::path> layers;      ///< folders that may have a layer
};

/// From where this command lies, the user's home and what Open MPI says.
MpiPlaces mpi_places();

/// One for each launcher that is found, and for the MPI of `mpicc_abi`: kind, version, launcher,
/// what, path, use, problem. `use` is the beginning of the line that starts a program; empty where
/// `problem` says what is missing.
nlohmann::ordered_json found_mpis(const MpiPlaces& places);

void print_mpis(const nlohmann::ordered_json& mpis);

}  // namespace trefoil::tool
