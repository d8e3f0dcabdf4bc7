// SPDX-License-Identifier: BSD-3-Clause
// Options by group, each group added by one function and read by another.
#include "bench/sim/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "bench/common/names.hpp"
#include "bench/common/plot.hpp"
#include "bench/common/schedule_file.hpp"
#include "bench/sim/engines.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

void add_what(CLI::App& command, SimCommandLine& given) {
    command
        .add_option("collective", given.collective,
                    "allreduce, reduce_scatter, allgather, bcast, reduce, gather, scatter, "
                    "alltoall or barrier")
        ->required();
    command.add_option("-a,--algorithm", given.algorithms,
                       "Names (comma list, with modifiers or not), or all (default)");
    command.add_option("--schedule", given.schedule,
                       "A file with the schedules of all ranks, as `trefoil plan --all-ranks "
                       "--json` prints them; beside --algorithm, if that is given");
    command.add_option("-t,--torus", given.tori,
                       "Sizes of the tori: 64x64, or a comma list (default: the schedule's)");
    command.add_option(
        "--sizes", given.sizes,
        "Bytes of the vector, a comma list; K, M, G allowed (default: " + given.sizes + ")");
    command.add_option("--root", given.root,
                       "The root of bcast, reduce, gather and scatter (default: 0)");
}

void read_what(const SimCommandLine& given, SimOptions& options) {
    options.collective = find_collective(given.collective);
    if (!given.schedule.empty()) {
        options.schedule = read_schedule(options.collective, given.schedule);
    }
    const bool alone = options.schedule && given.algorithms.empty();
    if (!alone) {
        options.algorithms = split_list(given.algorithms.empty() ? "all" : given.algorithms);
    }
    if (given.tori.empty() && !options.schedule) {
        throw Error(Status::invalid_argument, "sim needs a torus, such as --torus 64x64");
    }
    options.tori =
        given.tori.empty() ? std::vector{options.schedule->torus().name()} : split_list(given.tori);
    for (const std::string& size : split_list(given.sizes)) {
        options.sizes.push_back(parse_size(size));
    }
    options.root = given.root;
}

void add_model(CLI::App& command, SimCommandLine& given) {
    const auto add = [&](const char* name, std::string& text, const std::string& help) {
        command.add_option(name, text, help)->group("Model");
    };
    add("--model", given.model,
        "flow (default): event by event; step: all ranks wait after every step");
    command.add_flag("--sync", given.step_sync, "flow: a rank goes on with all parts together")
        ->group("Model");
    add("--closing-barrier", given.closing_barrier,
        "Adds a barrier at the end, along a binary tree: what each of its messages takes beside "
        "its hops, such as 312ns");
    add("--engine", given.engine, engine_help());
}

void read_model(const SimCommandLine& given, SimOptions& options) {
    if (given.model != "flow" && given.model != "step") {
        throw Error(Status::invalid_argument,
                    "there is no model \"" + given.model + "\"; give flow or step");
    }
    options.model = given.model == "flow" ? Model::flow : Model::step;
    if (given.step_sync && options.model == Model::step) {
        throw Error(Status::invalid_argument,
                    "in the step model all ranks wait after every step anyway; leave --sync out");
    }
    options.step_sync = given.step_sync;
    if (!given.closing_barrier.empty()) {
        options.machine.closing_barrier = parse_time(given.closing_barrier);
    }
    options.engine = find_engine(given.engine).engine;
}

void add_machine(CLI::App& command, SimCommandLine& given) {
    const auto add = [&](const char* name, std::string& text, const std::string& help) {
        command.add_option(name, text, help)->group("Machine");
    };
    add("--machine", given.machine,
        "A name below, or a JSON file (default: " + given.machine + ")");
    add("--network", given.network, "torus, mesh (no way around) or hyperx (rows linked fully)");
    add("--rate", given.rate, "Of each link and direction: 400Gbit, 6.8GB");
    add("--alpha", given.alpha, "Start-up of a message, or of a step: 1.5us");
    add("--hop", given.hop, "For each link that a message crosses: 200ns");
    add("--down", given.down, "Links that do not work: +0@5 leaves rank 5 in direction +0");
    add("--memory", given.memory,
        "The flow model's table of messages may take so much (default: " + given.memory + ")");
}

void read_machine_options(const SimCommandLine& given, SimOptions& options) {
    options.machine = find_machine(given.machine);
    if (!given.network.empty()) {
        options.machine.network = given.network;
    }
    if (!given.rate.empty()) {
        options.machine.rate = parse_rate(given.rate);
    }
    if (!given.alpha.empty()) {
        options.machine.costs.alpha = parse_time(given.alpha);
    }
    if (!given.hop.empty()) {
        options.machine.costs.hop = parse_time(given.hop);
    }
    if (!given.down.empty()) {
        options.down = split_list(given.down);
    }
    options.most_bytes = parse_size(given.memory);
}

void add_output(CLI::App& command, SimCommandLine& given) {
    const auto add = [&](CLI::Option* option) { option->group("Output"); };
    add(command.add_option("--baseline", given.baseline,
                           "Also tell how much faster each is than this algorithm"));
    add(command.add_flag("--table", given.table,
                         "As tables of algorithms and sizes: time, goodput, gain"));
    add(command.add_flag(
        "--json", given.json,
        "As one JSON object: {\"machine\": ..., \"runs\": [...], \"left_out\": [...]}"));
    add(command.add_option("--plot", given.plot,
                           "Also draw goodput over size, and the gains over the baseline, in this "
                           "file (.svg or .png)"));
}

void read_output(const SimCommandLine& given, SimOptions& options) {
    if (given.json && given.table) {
        throw Error(Status::invalid_argument, "--json and --table exclude each other");
    }
    if (!given.plot.empty()) {
        check_figure_file(given.plot);
    }
    options.baseline = given.baseline;
    options.json = given.json;
    options.table = given.table;
    options.plot = given.plot;
    options.progress = isatty(STDERR_FILENO) == 1;
}

std::string footer() {
    std::string text = "Machines:\n";
    for (const Machine& machine : machines()) {
        text += fmt::format("  {:<14} {}\n", machine.name, machine.what);
    }
    return text +
           "\nA machine file is a JSON object of texts: rate (needed), network, alpha, hop, "
           "closing_barrier,\n"
           "name. Schedules are those that `trefoil plan` prints and proves. Messages take the "
           "shortest\n"
           "ways, dimension by dimension; where two are equally long, half of the bytes each. "
           "Copies and\n"
           "reductions take no time.\n"
           "Example: trefoil sim allreduce --algorithm swing-b,bucket,trivance-b --torus 64x64 "
           "--sizes 32K,2M\n"
           "         trefoil sim allreduce --torus 8x8 --machine swing --model step --baseline "
           "bucket";
}

}  // namespace

void add_sim_options(CLI::App& command, SimCommandLine& given) {
    add_what(command, given);
    add_model(command, given);
    add_machine(command, given);
    add_output(command, given);
    command.footer(footer());
}

SimOptions read_sim_options(const SimCommandLine& given) {
    SimOptions options;
    read_what(given, options);
    read_machine_options(given, options);
    read_model(given, options);
    read_output(given, options);
    return options;
}

}  // namespace trefoil::tool
