// SPDX-License-Identifier: BSD-3-Clause
// The command `trefoil sim`: what was typed, read, run and reported.
#include "bench/sim/sim.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/sim/command_line.hpp"
#include "bench/sim/page.hpp"
#include "bench/sim/report.hpp"
#include "bench/sim/rewiring.hpp"
#include "bench/sim/runs.hpp"

namespace trefoil::tool {

namespace {

// A kind of result of its own begins here: read, run and report in files of its own.
int sim(const CLI::App& command, const SimCommandLine& given) {
    if (asks_for_circuits(command)) {
        return sim_with_circuits(command, given);
    }
    const SimOptions options = read_sim_options(given);
    if (command.count("--html") > 0) {
        return write_sim_page(options, given.html);
    }
    const SimResult result = simulate(options);
    if (options.json) {
        fmt::print("{}\n", json_of(options, result).dump());
    } else {
        fmt::print("{}", options.table ? table_of(options, result) : list_of(options, result));
    }
    if (!options.plot.empty()) {
        write_figure(options.plot, figure_of(options, result));
    }
    return exit_success;
}

}  // namespace

void add_sim(CLI::App& app, CommandBody& body) {
    auto given = std::make_shared<SimCommandLine>();
    CLI::App* command = app.add_subcommand(
        "sim", "Predict how long collectives take on a machine that you describe");
    add_sim_options(*command, *given);
    add_rewiring_options(*command, *given);
    command->callback(
        [command, given, &body] { body = [command, given] { return sim(*command, *given); }; });
}

}  // namespace trefoil::tool
