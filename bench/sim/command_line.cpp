// SPDX-License-Identifier: BSD-3-Clause
// Options by group, each group added by one function and read by another.
#include "bench/sim/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "bench/common/names.hpp"
#include "bench/common/network_file.hpp"
#include "bench/common/per_node.hpp"
#include "bench/common/plot.hpp"
#include "bench/common/renamed_option.hpp"
#include "bench/common/schedule_file.hpp"
#include "bench/sim/engines.hpp"
#include "bench/sim/links.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

int whole(const char* option, int value, int least, int most) {
    if (value < least || value > most) {
        throw Error(Status::invalid_argument, fmt::format("{} takes a number from {} to {}, not {}",
                                                          option, least, most, value));
    }
    return value;
}

/// What is asked for twice is run once.
template <typename T>
std::vector<T> unique(const std::vector<T>& all) {
    std::vector<T> result;
    for (const T& one : all) {
        if (std::ranges::find(result, one) == result.end()) {
            result.push_back(one);
        }
    }
    return result;
}

void add_what(CLI::App& command, SimCommandLine& given) {
    command.add_option("collective", given.collective,
                       "allreduce, reduce_scatter, allgather, bcast, reduce, gather, scatter, "
                       "alltoall or barrier");
    command.add_option(
        "-a,--algorithm", given.algorithms,
        "Name of an algorithm, or a comma list, with modifiers or without, or all (default)");
    command.add_option("--schedule", given.schedule,
                       "A file with the schedules of all ranks, as `trefoil plan --all-ranks "
                       "--json` prints them, with --algorithm as well if that is given");
    take_network_files(command.add_option(
        "-t,--torus", given.tori,
        "Sizes of the torus, such as 64x64, or of several, a comma list (default: the "
        "schedule's); a colon before each thing that is missing or slow: "
        "4x4:node=5:cable=+0@4=0.5, or FILE.json"));
    add_per_node(command, given.per_node);
    command.add_option(
        "--sizes", given.sizes,
        "Sizes in bytes, of vectors; K, M, G allowed (default: " + given.sizes + ")");
    command.add_option("--root", given.root,
                       "Root of bcast, reduce, gather and scatter (default: 0)");
}

void read_what(const SimCommandLine& given, SimOptions& options) {
    if (given.collective.empty()) {
        throw Error(Status::invalid_argument, "sim needs a collective: " + collective_names());
    }
    options.collective = find_collective(given.collective);
    if (!given.schedule.empty()) {
        options.schedule = read_schedule(options.collective, given.schedule);
    }
    const bool alone = options.schedule && given.algorithms.empty();
    if (!alone) {
        options.algorithms =
            unique(split_list(given.algorithms.empty() ? "all" : given.algorithms));
    }
    if (given.tori.empty() && !options.schedule) {
        throw Error(Status::invalid_argument, "sim needs a torus, such as --torus 64x64");
    }
    options.tori = given.tori.empty() ? std::vector{options.schedule->torus().name()}
                                      : unique(split_list(with_nodes(given.tori, given.per_node)));
    for (const std::string& size : split_list(given.sizes)) {
        options.sizes.push_back(parse_size(size));
    }
    options.sizes = unique(options.sizes);
    if (given.root != 0 && !traits_of(options.collective).rooted()) {
        throw Error(Status::invalid_argument,
                    fmt::format("{} has no root; leave --root out", to_string(options.collective)));
    }
    options.root = given.root;
}

void add_model(CLI::App& command, SimCommandLine& given) {
    const auto group = [](CLI::Option* option) { option->group("Model"); };
    group(command.add_option(
        "--model", given.model,
        "Model: flow (default), event by event; step, all ranks wait after every "
        "step"));
    group(command.add_flag("--lockstep", given.step_sync,
                           "flow: a rank continues with all parts together"));
    group(command.add_option("--per-port", given.per_port,
                             "flow: at most this many messages of a rank are under way through one "
                             "port, the next one starts when one has arrived (default: no limit)"));
    group(command.add_option("--gap", given.gap,
                             "flow: time between the starts of a rank's messages through one port, "
                             "and between those that it receives through one (the g of LogGP)"));
    group(command.add_flag("--complete-sends", given.sends_complete,
                           "flow: a rank continues when its messages have arrived, too"));
    group(command.add_option("--jitter", given.jitter,
                             "flow: each message starts later by a random time below this"));
    group(command.add_option("--seed", given.seed, "Seed of the random numbers (default: 1)"));
    group(command.add_option("--closing-barrier", given.closing_barrier,
                             "Adds a barrier at the end, along a binary tree: what each of its "
                             "messages takes beside its hops, such as 312ns"));
    group(command.add_option("--engine", given.engine, engine_help()));
    group(command.add_option(
        "--memory", given.memory,
        "Most memory for the tables of a simulation (default: " + given.memory + ")"));
}

void read_model(const SimCommandLine& given, SimOptions& options) {
    if (given.model != "flow" && given.model != "step") {
        throw Error(Status::invalid_argument,
                    "there is no model \"" + given.model + "\"; give flow or step");
    }
    options.model = given.model == "flow" ? Model::flow : Model::step;
    options.flow.step_sync = given.step_sync;
    if (given.per_port != 0) {
        options.machine.per_port = whole("--per-port", given.per_port, 1, 1000000);
    }
    options.flow.per_port = options.machine.per_port;
    options.flow.gap = given.gap.empty() ? 0 : parse_time(given.gap);
    options.flow.sends_complete = given.sends_complete;
    if (options.flow.gap > 0 && options.flow.per_port > 0) {
        throw Error(Status::invalid_argument, "--gap and --per-port exclude each other");
    }
    options.flow.jitter = given.jitter.empty() ? 0 : parse_time(given.jitter);
    options.flow.seed = given.seed;
    const auto refuse_in_step_model = [&](bool asked, const std::string& what) {
        if (asked && options.model == Model::step) {
            throw Error(Status::invalid_argument, "in the step model " + what);
        }
    };
    refuse_in_step_model(given.step_sync,
                         "all ranks wait after every step anyway; leave --lockstep out");
    refuse_in_step_model(given.per_port > 0,
                         "messages do not wait for one another; leave --per-port out");
    refuse_in_step_model(!given.gap.empty(),
                         "messages do not wait for one another; leave --gap out");
    refuse_in_step_model(given.sends_complete,
                         "all messages of a step arrive in it; leave --complete-sends out");
    refuse_in_step_model(!given.jitter.empty(),
                         "a step has one start-up for all; leave --jitter out");
    if (!given.closing_barrier.empty()) {
        options.machine.closing_barrier = parse_time(given.closing_barrier);
    }
    options.engine = find_engine(given.engine).engine;
    options.most_bytes = parse_size(given.memory);
}

void add_machine(CLI::App& command, SimCommandLine& given) {
    const auto add = [&](const char* name, auto& value, const std::string& help) {
        command.add_option(name, value, help)->group("Machine");
    };
    add("--machine", given.machine,
        "A name below, or a JSON file (default: " + given.machine + ")");
    add("--network", given.network,
        "torus, mesh (no way around), hyperx (rows linked fully), hx2mesh and hx4mesh (boards of 2 "
        "by 2 and 4 by 4, a switch for each row), or switch (one for all)");
    add("--rate", given.rate,
        "Rate of each link and direction: 400Gbit, 6.8GB; or one for each dimension: "
        "400Gbit,200Gbit");
    add("--alpha", given.alpha, "Start-up of a message, or of a step: 1.5us");
    add("--hop", given.hop, "Time for each link that a message crosses: 200ns");
    add("--links-per-pair", given.links_per_pair,
        "In rings of size 2: 1 link each way, or 2 (default), one through each port");
    add("--host", given.host,
        "This dimension, counted from 0, lies inside the nodes, and each of their ranks has "
        "links of its own; of --per-node it is the last one, and ranks share the node's links");
    add("--host-rate", given.host_rate, "Rate of a rank into its node and out of it");
    add("--host-latency", given.host_latency,
        "Latency between two ranks of a node, instead of start-up and hops (default: 300ns for "
        "--per-node, a start-up for --host)");
    add("--copy", given.copy,
        "Rate at which a rank copies: 10GB a second (default: copying takes no time)");
    add("--reduce", given.reduce, "Rate at which a rank reduces (default: it takes no time)");
    add("--down", given.down, "Links that do not work: +0@5 leaves rank 5 in direction +0");
    add("--slow", given.slow, "Links that have a share of their rate: +0@5=0.5");
}

void read_host(const SimCommandLine& given, Machine& machine) {
    const bool asked = !given.host_rate.empty() || !given.host_latency.empty();
    const bool has_nodes = given.per_node > 0 || given.tori.find('h') != std::string::npos;
    if (asked && given.host < 0 && has_nodes) {
        machine.host = HostDimension{-1, HostDimension::usual_rate, HostDimension::usual_latency};
    }
    if (given.host >= 0) {
        machine.host = HostDimension{whole("--host", given.host, 0, 63), 0, {}};
    }
    if (asked && !machine.host) {
        throw Error(Status::invalid_argument,
                    "--host-rate and --host-latency need --host, the dimension that lies in nodes, "
                    "or --per-node, or a torus such as 3x3x2h");
    }
    if (!given.host_rate.empty()) {
        machine.host->rate = parse_rate(given.host_rate);
    }
    if (!given.host_latency.empty()) {
        machine.host->latency = parse_time(given.host_latency);
    }
    if (machine.host && machine.host->rate == 0) {
        throw Error(Status::invalid_argument, "--host needs --host-rate, such as 100GB");
    }
}

void read_machine_options(const SimCommandLine& given, SimOptions& options) {
    options.machine = find_machine(given.machine);
    Machine& machine = options.machine;
    const auto set = [](const std::string& text, double& value, double (*parse)(std::string_view)) {
        if (!text.empty()) {
            value = parse(text);
        }
    };
    if (!given.network.empty()) {
        check_network(given.network);
        machine.network = given.network;
    }
    if (!given.rate.empty()) {
        machine.rates.clear();
        for (const std::string& rate : split_list(given.rate)) {
            machine.rates.push_back(parse_rate(rate));
        }
    }
    set(given.alpha, machine.costs.alpha, &parse_time);
    set(given.hop, machine.costs.hop, &parse_time);
    set(given.copy, machine.costs.copy_rate, &parse_rate);
    set(given.reduce, machine.costs.reduce_rate, &parse_rate);
    if (given.links_per_pair != 0) {
        machine.links_per_pair = whole("--links-per-pair", given.links_per_pair, 1, 2);
    }
    read_host(given, machine);
    if (!given.down.empty()) {
        machine.down = split_list(given.down);
    }
    if (!given.slow.empty()) {
        machine.slow.clear();
        for (const std::string& link : split_list(given.slow)) {
            machine.slow.push_back(parse_slow_link(link));
        }
    }
}

void add_output(CLI::App& command, SimCommandLine& given) {
    const auto add = [&](CLI::Option* option) { option->group("Output"); };
    add(command.add_option("--baseline", given.baseline,
                           "Also report how much faster each is than this algorithm"));
    add(command.add_flag("--table", given.table,
                         "Print tables: time, goodput and gain by algorithm and size"));
    add(command.add_flag(
        "--json", given.json,
        "Print JSON: one object {\"machine\": ..., \"runs\": [...], \"left_out\": [...]}"));
    add(command.add_option("--plot", given.plot,
                           "Draw a figure in this file (.svg or .png): goodput over size, and the "
                           "gains over the baseline"));
    add(command
            .add_option(
                "--html", given.html,
                "Write a page that plays in any browser: one algorithm in time, or two beside "
                "each other, on one torus with one size of vector; messages as they flow, "
                "how busy links are, and the wiring where it changes; one file of at most "
                "5 MiB")
            ->type_name("FILE"));
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
           "\nSchedules are those that `trefoil plan` prints and verifies. Messages take the "
           "shortest "
           "ways,\n"
           "dimension by dimension; where some are equally long, the bytes are shared out "
           "evenly.\n"
           "docs/simulator.md has the rules of both models and of machine files.\n"
           "Examples: trefoil sim allreduce --algorithm swing-b,bucket,trivance-b --torus 64x64 "
           "--sizes 32K,2M\n"
           "          trefoil sim allreduce --torus 8x8 --machine swing --model step --baseline "
           "bucket --table\n"
           "          trefoil sim allreduce --torus 64x64 -a swing-b --network hx2mesh --rate "
           "400Gbit --alpha 500ns";
}

}  // namespace

void add_sim_options(CLI::App& command, SimCommandLine& given) {
    add_what(command, given);
    add_model(command, given);
    add_machine(command, given);
    add_output(command, given);
    refuse_option(command, "--sync", "is called --lockstep");
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
