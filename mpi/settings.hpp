// SPDX-License-Identifier: BSD-3-Clause
// What the environment says about MPI's calls.
#pragma once

#include <string>

namespace trefoil::mpi {

/// A variable's value; "" if there is none.
std::string variable(const char* name);

/// Reads TREFOIL_MPI and its like; returns what is wrong with them.
std::string read_settings();

/// What must be equal on all ranks, once the settings were read.
std::string settings_text();

/// Why Trefoil cannot work with the MPI below; empty: it can.
std::string what_mpi_lacks();

/// From now on calls are looked at, where the settings say so; false: none are.
bool look_at_calls();

}  // namespace trefoil::mpi
