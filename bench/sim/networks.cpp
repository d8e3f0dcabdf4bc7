// SPDX-License-Identifier: BSD-3-Clause
// From the kind of network that a machine names to the network on a torus.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "algorithms/simulation/fabric_network.hpp"
#include "algorithms/simulation/grid_network.hpp"
#include "algorithms/simulation/switch_network.hpp"
#include "bench/sim/machine.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// "hx4mesh": 4. Nothing: it is no HammingMesh.
std::optional<Rank> board_of(std::string_view network) {
    if (!network.starts_with("hx") || !network.ends_with("mesh") || network.size() < 7) {
        return std::nullopt;
    }
    const std::string_view digits = network.substr(2, network.size() - 6);
    Rank board = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), board);
    const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    return whole && board >= 2 ? std::optional(board) : std::nullopt;
}

std::optional<RowKind> row_kind(const std::string& network) {
    if (network == "torus") {
        return RowKind::ring;
    }
    if (network == "mesh") {
        return RowKind::line;
    }
    if (network == "hyperx") {
        return RowKind::full;
    }
    return board_of(network) ? std::optional(RowKind::boards) : std::nullopt;
}

void require(bool fits, const std::string& why) {
    if (!fits) {
        throw Error(Status::invalid_argument, why);
    }
}

}  // namespace

void check_network(const std::string& network) {
    require(network == "switch" || row_kind(network).has_value(),
            "there is no network \"" + network +
                "\"; give torus, mesh, hyperx, hx2mesh (boards of 2 by 2), hx4mesh or switch");
}

std::unique_ptr<Network> make_network(const Machine& machine, const Torus& torus) {
    check_network(machine.network);
    const auto dimensions = static_cast<std::size_t>(torus.dimensions());
    const std::size_t with_links = dimensions - (torus.has_nodes() ? 1 : 0);
    require(machine.rates.size() == 1 || machine.rates.size() == with_links,
            fmt::format("{} rates are given, but {} has {} dimensions with links; give one rate, "
                        "or one for each of them",
                        machine.rates.size(), torus.name(), with_links));
    require(!machine.host || machine.host->dimension < 0 || !torus.has_nodes(),
            fmt::format("{} has a dimension that lies in the nodes, its last one; leave --host out",
                        torus.name()));
    require(!torus.has_nodes() || torus.nodes().ranks() > 1,
            fmt::format("{} is one node, and has no links", torus.name()));
    require(!machine.host || machine.host->dimension < torus.dimensions(),
            fmt::format("{} has no dimension {} that could lie in the nodes; they count from 0",
                        torus.name(), machine.host ? machine.host->dimension : 0));
    if (torus.fabric() != nullptr) {
        require(machine.network == "torus" && machine.rates.size() == 1 && !machine.host &&
                    machine.links_per_pair == 2,
                fmt::format("{} is a network of its own, with links of one rate except where it "
                            "says so; leave --network, --host and --links-per-pair out",
                            torus.name()));
        return std::make_unique<FabricNetwork>(torus, machine.rates.front());
    }
    const bool has_lines = torus.has_lines();
    require(!has_lines || machine.network == "torus" || machine.network == "mesh",
            fmt::format("{} has lines, which are of a torus or a mesh, not of network {}; leave "
                        "the m out",
                        torus.name(), machine.network));
    if (machine.network == "switch") {
        require(machine.rates.size() == 1 && !machine.host && !torus.has_nodes(),
                "a switch has one rate, and no dimension that lies in the nodes");
        return std::make_unique<SwitchNetwork>(torus, machine.rates.front());
    }
    std::vector<GridDimension> rows;
    for (std::size_t j = 0; j < dimensions; ++j) {
        GridDimension row;
        if (torus.is_host(static_cast<int>(j))) {
            const HostDimension host = machine.host.value_or(
                HostDimension{-1, HostDimension::usual_rate, HostDimension::usual_latency});
            rows.push_back(
                {RowKind::host, host.rate, row.links, row.board, host.latency_of(machine.costs)});
            continue;
        }
        row.kind = torus.is_line(static_cast<int>(j)) ? RowKind::line : *row_kind(machine.network);
        row.rate = machine.rates.size() == 1 ? machine.rates.front() : machine.rates[j];
        row.links = machine.links_per_pair;
        row.board = board_of(machine.network).value_or(row.board);
        if (machine.host && static_cast<std::size_t>(machine.host->dimension) == j) {
            row = {RowKind::host, machine.host->rate, row.links, row.board,
                   machine.host->latency_of(machine.costs)};
        } else if (row.kind == RowKind::boards && torus.size(static_cast<int>(j)) == 1) {
            row.kind = RowKind::line;
        }
        rows.push_back(row);
    }
    return std::make_unique<GridNetwork>(torus, std::move(rows));
}

}  // namespace trefoil::tool
