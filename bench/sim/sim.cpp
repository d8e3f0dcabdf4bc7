// SPDX-License-Identifier: BSD-3-Clause
// The command line of `trefoil sim`, its table and its JSON.
#include "bench/sim/sim.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/names.hpp"
#include "bench/sim/runs.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

struct CommandLine {
    std::string collective, algorithms = "all", tori, sizes = "32,1K,32K,1M,32M",
                            machine = "trivance", network, rate, alpha, hop, model = "flow",
                            closing_barrier, down, baseline, memory = "2G";
    Rank root = 0;
    bool step_sync = false, json = false;
};

SimOptions read(const CommandLine& given) {
    SimOptions options;
    options.collective = find_collective(given.collective);
    options.algorithms = split_list(given.algorithms);
    options.tori = split_list(given.tori);
    for (const std::string& size : split_list(given.sizes)) {
        options.sizes.push_back(parse_size(size));
    }
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
    if (!given.closing_barrier.empty()) {
        options.machine.closing_barrier = parse_time(given.closing_barrier);
    }
    if (!given.down.empty()) {
        options.down = split_list(given.down);
    }
    if (given.model != "flow" && given.model != "step") {
        throw Error(Status::invalid_argument,
                    "there is no model \"" + given.model + "\"; give flow or step");
    }
    options.flow = given.model == "flow";
    if (given.step_sync && !options.flow) {
        throw Error(Status::invalid_argument,
                    "in the step model all ranks wait after every step anyway; leave --sync out");
    }
    options.step_sync = given.step_sync;
    options.root = given.root;
    options.most_bytes = parse_size(given.memory);
    options.progress = isatty(STDERR_FILENO) == 1;
    return options;
}

nlohmann::ordered_json json_of(const SimOptions& options, const SimResult& result) {
    const Machine& machine = options.machine;
    nlohmann::ordered_json all{{"machine",
                                {{"name", machine.name},
                                 {"network", machine.network},
                                 {"rate", machine.rate},
                                 {"alpha", machine.costs.alpha},
                                 {"hop", machine.costs.hop},
                                 {"closing_barrier", machine.closing_barrier}}},
                               {"runs", nlohmann::ordered_json::array()},
                               {"left_out", result.left_out}};
    for (const SimRun& run : result.runs) {
        all["runs"].push_back({{"collective", to_string(options.collective)},
                               {"algorithm", run.algorithm},
                               {"torus", run.torus},
                               {"ranks", run.ranks},
                               {"bytes", run.bytes},
                               {"model", options.flow ? "flow" : "step"},
                               {"sync", options.step_sync},
                               {"seconds", run.seconds}});
    }
    return all;
}

/// By torus and size: the baseline's time.
using Baseline = std::map<std::pair<std::string, std::size_t>, double>;

Baseline baseline_of(const CommandLine& given, const SimResult& result) {
    Baseline times;
    for (const SimRun& run : result.runs) {
        if (run.algorithm == given.baseline) {
            times[{run.torus, run.bytes}] = run.seconds;
        }
    }
    if (!given.baseline.empty() && times.empty()) {
        throw Error(Status::invalid_argument,
                    "the baseline " + given.baseline + " is not among the algorithms that ran");
    }
    return times;
}

void print_table(const CommandLine& given, const SimOptions& options, const SimResult& result) {
    const Machine& machine = options.machine;
    const Baseline baseline = baseline_of(given, result);
    fmt::print("# {} on a {} of {} links, {} a {}, {} a hop ({}){}\n# {}\n#\n",
               to_string(options.collective), machine.network, rate_text(machine.rate),
               time_text(machine.costs.alpha), options.flow ? "message" : "step",
               time_text(machine.costs.hop), machine.name,
               machine.closing_barrier > 0 ? ", with a closing barrier" : "",
               options.flow ? "flow model: ranks go on as soon as they can, links are shared fairly"
                            : "step model: all ranks wait for all after every step");
    fmt::print("#{:>11} {:<28} {:>9} {:>12} {:>14}{}\n", "torus", "algorithm", "bytes", "time",
               "goodput", baseline.empty() ? "" : fmt::format("  over {}", given.baseline));
    for (const SimRun& run : result.runs) {
        const auto base = baseline.find({run.torus, run.bytes});
        fmt::print("{:>12} {:<28} {:>9} {:>12} {:>14}{}\n", run.torus, run.algorithm,
                   size_text(run.bytes), time_text(run.seconds),
                   rate_text(static_cast<double>(run.bytes) / std::max(run.seconds, 1e-300)),
                   base == baseline.end()
                       ? ""
                       : fmt::format("  {:+.1f} %", 100 * (base->second / run.seconds - 1)));
    }
    for (const std::string& reason : result.left_out) {
        fmt::print("# left out: {}\n", reason);
    }
}

int sim(const CommandLine& given) {
    const SimOptions options = read(given);
    const SimResult result = simulate(options);
    if (result.runs.empty()) {
        for (const std::string& reason : result.left_out) {
            fmt::print(stderr, "trefoil: {}\n", reason);
        }
        throw Error(Status::unsupported, "none of the algorithms runs on these tori");
    }
    if (given.json) {
        fmt::print("{}\n", json_of(options, result).dump());
    } else {
        print_table(given, options, result);
    }
    return exit_success;
}

std::string machine_help() {
    std::string text = "Machines:\n";
    for (const Machine& machine : machines()) {
        text += fmt::format("  {:<14} {}\n", machine.name, machine.what);
    }
    return text;
}

}  // namespace

void add_sim(CLI::App& app, Action& action) {
    auto given = std::make_shared<CommandLine>();
    CLI::App* command = app.add_subcommand(
        "sim", "Tell how long collectives take on a machine that is described, not there");
    command
        ->add_option("collective", given->collective,
                     "allreduce, reduce_scatter, allgather, bcast, reduce, gather, scatter, "
                     "alltoall or barrier")
        ->required();
    command->add_option("-a,--algorithm", given->algorithms,
                        "Names (comma list, with modifiers or not), or all (default)");
    command->add_option("-t,--torus", given->tori, "Sizes of the tori: 64x64, or a comma list")
        ->required();
    command->add_option(
        "--sizes", given->sizes,
        "Bytes of the vector, a comma list; K, M, G allowed (default: " + given->sizes + ")");
    command->add_option("--root", given->root,
                        "The root of bcast, reduce, gather and scatter (default: 0)");
    command
        ->add_option("--model", given->model,
                     "flow (default): event by event; step: all ranks wait after every step")
        ->group("Model");
    command->add_flag("--sync", given->step_sync, "flow: a rank goes on with all parts together")
        ->group("Model");
    command
        ->add_option("--closing-barrier", given->closing_barrier,
                     "Adds a barrier at the end, along a binary tree: what each of its messages "
                     "takes beside its hops, such as 312ns")
        ->group("Model");
    command
        ->add_option("--machine", given->machine,
                     "A name below, or a JSON file (default: " + given->machine + ")")
        ->group("Machine");
    command
        ->add_option("--network", given->network,
                     "torus, mesh (no way around) or hyperx (rows linked fully)")
        ->group("Machine");
    command->add_option("--rate", given->rate, "Of each link and direction: 400Gbit, 6.8GB")
        ->group("Machine");
    command->add_option("--alpha", given->alpha, "Start-up of a message, or of a step: 1.5us")
        ->group("Machine");
    command->add_option("--hop", given->hop, "For each link that a message crosses: 200ns")
        ->group("Machine");
    command
        ->add_option("--down", given->down,
                     "Links that do not work: +0@5 leaves rank 5 in direction +0")
        ->group("Machine");
    command
        ->add_option("--memory", given->memory,
                     "The flow model's table of messages may take so much (default: 2G)")
        ->group("Machine");
    command
        ->add_option("--baseline", given->baseline,
                     "Also tell how much faster each is than this algorithm")
        ->group("Output");
    command
        ->add_flag("--json", given->json,
                   "As one JSON object: {\"machine\": ..., \"runs\": [...], \"left_out\": [...]}")
        ->group("Output");
    command->footer(machine_help() +
                    "\nA machine file is a JSON object of texts: rate (needed), network, alpha, "
                    "hop, closing_barrier,\n"
                    "name. Schedules are those that `trefoil plan` prints and proves. Messages "
                    "take the shortest\n"
                    "ways, dimension by dimension; where two are equally long, half of the bytes "
                    "each. Copies and\n"
                    "reductions take no time.\n"
                    "Example: trefoil sim allreduce --algorithm swing-b,bucket,trivance-b --torus "
                    "64x64 --sizes 32K,2M\n"
                    "         trefoil sim allreduce --torus 8x8 --machine swing --model step "
                    "--baseline bucket");
    command->callback([given, &action] { action = [given] { return sim(*given); }; });
}

}  // namespace trefoil::tool
