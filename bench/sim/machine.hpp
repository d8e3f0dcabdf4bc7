// SPDX-License-Identifier: BSD-3-Clause
// The machines that `trefoil sim` knows by name, and machines from files.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithms/simulation/models.hpp"

namespace trefoil::tool {

struct Machine {
    std::string name;
    std::string what;               ///< one line for --help
    std::string network = "torus";  ///< torus, mesh or hyperx
    double rate = 0;                ///< bytes per second of each link and direction
    MessageCosts costs;
    double closing_barrier = 0;  ///< seconds per message of a barrier at the end; 0: none
};

/// Those that are built in.
std::span<const Machine> machines();

/// The machine of that name, or the one that a JSON file describes. Throws Error(not_found) that
/// lists the names, Error(invalid_argument) that says what is wrong in the file.
Machine find_machine(const std::string& name_or_file);

/// Throws Error(invalid_argument) for a kind of network that does not exist.
std::unique_ptr<Network> make_network(const Machine& machine, const Torus& torus);

}  // namespace trefoil::tool
