// SPDX-License-Identifier: BSD-3-Clause
// The machines that `trefoil sim` knows by name, machines from files, and their networks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/simulation/models.hpp"

namespace trefoil::tool {

/// A dimension whose ranks are those of one node.
struct HostDimension {
    /// What a node's memory is taken to do: 20 GB/s for each rank, and a third of a microsecond.
    static constexpr double usual_rate = 20e9, usual_latency = 0.3e-6;

    int dimension = 0;  ///< -1: that of a torus which has nodes
    double rate = 0;    ///< bytes per second, of a rank into its node and out of it
    /// Seconds between two ranks of a node, instead of start-up and hops; nothing: a start-up.
    std::optional<double> latency = {};
    double latency_of(const MessageCosts& costs) const { return latency.value_or(costs.alpha); }
};

struct Machine {
    std::string name;
    std::string what;               ///< one line for --help
    std::string network = "torus";  ///< as find_network_kind() knows it
    /// Bytes per second of each link and direction: one for all dimensions, or one for each.
    std::vector<double> rates;
    MessageCosts costs;
    double closing_barrier = 0;         ///< seconds per message of a barrier at the end; 0: none
    int links_per_pair = 2;             ///< in rings of size 2: one link each way, or two
    std::optional<HostDimension> host;  ///< if one dimension lies inside the nodes
    int per_port = 0;                   ///< FlowOptions::per_port
    std::vector<std::string> down;      ///< links out of service, "+0@5"
    std::vector<std::pair<std::string, double>> slow;  ///< links, and which share of their rate

    /// All links have the same rate, and those of size 2 are pairs.
    bool is_plain_torus() const {
        return network == "torus" && rates.size() == 1 && links_per_pair == 2 && !host;
    }
};

/// Those that are built in.
std::span<const Machine> machines();

/// The machine of that name, or the one that a JSON file describes (bench/sim/machine.schema.json).
/// Throws Error(not_found) that offers the nearest name, Error(invalid_argument) that says what is
/// wrong in the file.
Machine find_machine(const std::string& name_or_file);

/// Reads such a file.
Machine read_machine_file(const std::string& file);

/// Throws Error(invalid_argument) unless there is such a kind of network.
void check_network(const std::string& network);

/// Without links that are down or slow. Throws Error(invalid_argument) for what does not fit this
/// torus.
std::unique_ptr<Network> make_network(const Machine& machine, const Torus& torus);

}  // namespace trefoil::tool
