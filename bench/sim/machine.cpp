// SPDX-License-Identifier: BSD-3-Clause
// The table of machines, and the reader of machine files.
#include "bench/sim/machine.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "algorithms/simulation/grid_network.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

const std::array<Machine, 4>& table() {
    static const std::array<Machine, 4> all{{
        {"trivance",
         "Trivance's setting: 800 Gbit/s, 1.8 us a step, 200 ns a hop",
         "torus",
         100e9,
         {1.8e-6, 200e-9}},
        {"swing",
         "Swing's setting: 400 Gbit/s, 500 ns a step, 400 ns a hop",
         "torus",
         50e9,
         {500e-9, 400e-9}},
        {"short-circuit",
         "the setting of short-circuited rings: 800 Gbit/s, no start-up, 500 ns a hop",
         "torus",
         100e9,
         {0, 500e-9}},
        {"fugaku",
         "like Fugaku: 54.4 Gbit/s, 1 us a step, 100 ns a hop (rate published, times assumed)",
         "torus",
         6.8e9,
         {1e-6, 100e-9}},
    }};
    return all;
}

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
    throw Error(Status::invalid_argument, "machine file " + file + ": " + why);
}

Machine read_machine(const std::string& file) {
    std::ifstream stream(file);
    nlohmann::json json;
    try {
        json = nlohmann::json::parse(stream);
    } catch (const nlohmann::json::exception& error) {
        refuse(file, error.what());
    }
    if (!json.is_object()) {
        refuse(file, "is no JSON object");
    }
    Machine machine;
    machine.name = file;
    for (const auto& [key, value] : json.items()) {
        if (!value.is_string()) {
            refuse(file, "\"" + key + "\" must be a text, such as \"400Gbit\" or \"500ns\"");
        }
        const auto text = value.get<std::string>();
        if (key == "name") {
            machine.name = text;
        } else if (key == "network") {
            machine.network = text;
        } else if (key == "rate") {
            machine.rate = parse_rate(text);
        } else if (key == "alpha") {
            machine.costs.alpha = parse_time(text);
        } else if (key == "hop") {
            machine.costs.hop = parse_time(text);
        } else if (key == "closing_barrier") {
            machine.closing_barrier = parse_time(text);
        } else {
            refuse(file, "there is no \"" + key +
                             "\"; known are name, network, rate, alpha, hop, closing_barrier");
        }
    }
    if (machine.rate == 0) {
        refuse(file, "\"rate\" is missing");
    }
    return machine;
}

}  // namespace

std::span<const Machine> machines() {
    return table();
}

Machine find_machine(const std::string& name_or_file) {
    std::string names;
    for (const Machine& machine : machines()) {
        if (machine.name == name_or_file) {
            return machine;
        }
        names += (names.empty() ? "" : ", ") + machine.name;
    }
    if (std::ifstream(name_or_file)) {
        return read_machine(name_or_file);
    }
    throw Error(Status::not_found,
                "there is no machine and no file \"" + name_or_file + "\"; known are " + names);
}

std::unique_ptr<Network> make_network(const Machine& machine, const Torus& torus) {
    constexpr std::pair<std::string_view, RowKind> kinds[] = {
        {"torus", RowKind::ring}, {"mesh", RowKind::line}, {"hyperx", RowKind::full}};
    for (const auto& [name, kind] : kinds) {
        if (machine.network == name) {
            return std::make_unique<GridNetwork>(
                torus, std::vector<GridDimension>(torus.dimensions(), {kind, machine.rate}));
        }
    }
    throw Error(Status::invalid_argument,
                "there is no network \"" + machine.network + "\"; give torus, mesh or hyperx");
}

}  // namespace trefoil::tool
