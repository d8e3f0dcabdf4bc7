// SPDX-License-Identifier: BSD-3-Clause
// The table of machines.
#include "bench/sim/machine.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "algorithms/schedule/nearest_names.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

Machine torus(std::string name, std::string what, double rate, double alpha, double hop) {
    Machine machine;
    machine.name = std::move(name);
    machine.what = std::move(what);
    machine.rates = {rate};
    machine.costs.alpha = alpha;
    machine.costs.hop = hop;
    return machine;
}

const std::array<Machine, 4>& known_machines() {
    static const std::array<Machine, 4> all{
        torus("trivance", "Trivance's setting: 800 Gbit/s, 1.8 us a step, 200 ns a hop", 100e9,
              1.8e-6, 200e-9),
        torus("swing", "Swing's setting: 400 Gbit/s, 500 ns a step, 400 ns a hop", 50e9, 500e-9,
              400e-9),
        torus("short-circuit",
              "the setting of short-circuited rings: 800 Gbit/s, no start-up, 500 ns a hop", 100e9,
              0, 500e-9),
        torus("fugaku",
              "like Fugaku: 54.4 Gbit/s, 1 us a step, 100 ns a hop (rate published, times assumed)",
              6.8e9, 1e-6, 100e-9),
    };
    return all;
}

}  // namespace

std::span<const Machine> machines() {
    return known_machines();
}

Machine find_machine(const std::string& name_or_file) {
    std::vector<std::string> names;
    for (const Machine& machine : machines()) {
        if (machine.name == name_or_file) {
            return machine;
        }
        names.push_back(machine.name);
    }
    if (std::ifstream(name_or_file)) {
        return read_machine_file(name_or_file);
    }
    const auto nearest = nearest_names(name_or_file, names);
    throw Error(Status::not_found,
                fmt::format("there is no machine and no file \"{}\"; {}known are {}", name_or_file,
                            nearest.empty() ? "" : "did you mean " + nearest.front() + "? ",
                            fmt::join(names, ", ")));
}

}  // namespace trefoil::tool
