// SPDX-License-Identifier: BSD-3-Clause
// `trefoil tune`: measures a machine and writes what `auto` takes there.
#include "bench/tune/tune.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <memory>

#include "bench/common/help.hpp"
#include "bench/common/names.hpp"
#include "bench/common/network_file.hpp"
#include "bench/common/own_program.hpp"
#include "bench/common/renamed_option.hpp"
#include "bench/perf/launch.hpp"
#include "bench/perf/options.hpp"
#include "bench/perf/run.hpp"
#include "bench/run/launcher.hpp"
#include "bench/run/net_job.hpp"
#include "bench/tune/rank.hpp"
#include "comm/setup/tuning_writer.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

constexpr const char* all_collectives =
    "allreduce,reduce_scatter,allgather,bcast,reduce,gather,scatter,alltoall";

TunePlan plan_of(const TuneOptions& options) {
    TunePlan plan;
    const bool all = options.collectives.empty() || options.collectives == "all";
    for (const std::string& name : split_list(all ? all_collectives : options.collectives)) {
        const Collective collective = find_collective(name);
        if (!traits_of(collective).has_data() || traits_of(collective).is_prefix() ||
            traits_of(collective).with_neighbours()) {
            throw Error(Status::invalid_argument,
                        name + " leaves nothing to choose; take some of " + all_collectives);
        }
        plan.collectives.push_back(collective);
    }
    plan.sizes =
        byte_sizes(options.min_bytes, options.max_bytes.empty() ? "16M" : options.max_bytes, 0,
                   options.step_factor);
    return plan;
}

/// As `trefoil perf` starts its ranks, and tells them the same.
PerfOptions perf_options(const TuneOptions& options) {
    PerfOptions perf;
    static_cast<CommonOptions&>(perf) = options;
    perf.torus = options.torus;
    perf.ranks = options.ranks;
    return perf;
}

int launch_in_net(const TuneOptions& options, const std::vector<std::string>& arguments) {
    Job job;
    job.name = "trefoil tune";
    place_in_net(job, options.net, options.per_node);
    job.command.push_back(own_program().string());
    job.command.insert(job.command.end(), arguments.begin(), arguments.end());
    job.output = Job::Output::first_rank;
    return launch(job);
}

int tune(const TuneOptions& options, const std::vector<std::string>& arguments) {
    const TunePlan plan = plan_of(options);
    check_rank_options(options);
    const PerfOptions perf = perf_options(options);
    // What was measured before must not decide what is measured now.
    std::string ignored;
    for (const char* name : {"TREFOIL_TUNING", "TREFOIL_ALGORITHM"}) {
        if (std::getenv(name) != nullptr) {
            ignored += (ignored.empty() ? "" : " and ") + std::string(name);
        }
        unsetenv(name);
    }
    if (options.regret > 0) {
        setenv("TREFOIL_TUNING", options.output.c_str(), 1);
    }
    if (const std::string launcher = launcher_text(); !launcher.empty()) {
        if (options.launch == "threads") {
            refuse_threads(launcher);
        }
        return tune_rank(options, plan, configuration(perf));
    }
    if (options.regret > 0) {
        read_tuning_file(options.output);
    } else {
        require_tuning_file(options.output);
    }
    require_writable("--json-file", options.json);
    if (!ignored.empty()) {
        fmt::print(stderr, "trefoil: tune ignores {}\n", ignored);
    }
    if (!options.net.empty()) {
        return launch_in_net(options, arguments);
    }
    const Rank ranks = asked_ranks(perf);
    if (ranks < 2) {
        throw Error(Status::invalid_argument,
                    "tune needs two ranks or more: --torus 3x3, --ranks 9, or --net");
    }
    if (options.launch == "processes") {
        return launch_processes("trefoil tune", ranks, options.torus, arguments);
    }
    return launch_threads(ranks, [&](const ThreadRank& me) {
        return tune_rank(options, plan, configuration(perf, me));
    });
}

}  // namespace

void add_tune(CLI::App& app, const Invocation& invocation, CommandBody& body) {
    auto options = std::make_shared<TuneOptions>();
    CLI::App* command = app.add_subcommand(
        "tune", "Measure this machine, and write which algorithm is the fastest for what");
    command->add_option("--collectives", options->collectives,
                        std::string("Some of ") + all_collectives + " (default: all)");
    add_size_range(*command, *options, "vector, all blocks together");
    take_network_files(
        command->add_option("-t,--torus", options->torus,
                            "Sizes of the torus, such as 3x3, or FILE.json: its ranks are "
                            "started"))
        ->group("Ranks");
    command->add_option("-n,--ranks", options->ranks, "How many ranks, instead of --torus")
        ->group("Ranks")
        ->check(number_in(2, 1 << 16));
    command
        ->add_option(
            "--net", options->net,
            "A network of scripts/torusnet: one rank (or --per-node) in each of its nodes; "
            "needs root")
        ->group("Ranks")
        ->excludes("--torus")
        ->excludes("--ranks");
    command
        ->add_option("--per-node", options->per_node,
                     "How many ranks a node has, with --net (default: 1)")
        ->group("Ranks")
        ->needs("--net")
        ->check(number_in(1, 1 << 16));
    add_rank_options(*command, *options);
    command->add_option("--output", options->output,
                        "The tuning file, whose entries for other jobs stay (default: "
                        "trefoil-tuning.json)");
    command
        ->add_option("--rounds", options->rounds, "Rounds of each algorithm and size (default: 7)")
        ->check(number_in(3, 1000));
    command
        ->add_option("--slice", options->slice_ms,
                     "Milliseconds of calls in each round, but one call at least (default: 5)")
        ->check(number_in(0.1, 10'000.0));
    command
        ->add_option(
            "--bisections", options->bisections,
            "How often a crossover is looked for between two sizes (default: 2); the first "
            "time algorithms that were nearly as fast as a winner take part, too")
        ->check(number_in(0, 20));
    command->add_flag("--ports-only", options->ports_only,
                      "Only the ports and the numbers of the model, no algorithms");
    command
        ->add_option("--regret", options->regret,
                     "Instead: draw this many calls, and report what the file's choices lose "
                     "against the fastest algorithm; then measure the calls again, as another "
                     "algorithm may be the fastest then")
        ->group("Regret")
        ->check(number_in(1, 100'000));
    command->add_option("--seed", options->seed, "Seed of the random numbers (default: 1)")
        ->group("Regret");
    refuse_option(*command, "-o", "is an operation in trefoil perf; write --output FILE");
    command->footer(
        "First the ports: all ranks send in one direction at a time, then in all. From that come "
        "numbers of the cost model,\n"
        "which the file gets if they predict the times below better than the present ones. "
        "Then algorithms, which take turns:\n"
        "the one that the model picks, those that it expects to be at most four times slower, "
        "single copy where ranks reach\n"
        "each other's memory, other numbers of pieces, and algorithms that run only by name. Those "
        "far behind drop out;\n"
        "longer turns decide among the fastest three and the model's pick. Each first call is "
        "checked, and wrong data is an error.\n"
        "Under `trefoil run`, mpirun or srun the ranks are given: mpirun -n 64 trefoil tune. The "
        "file is for jobs of this torus,\n"
        "ranks of a node and backend; docs/choice.md describes it. TREFOIL_TUNING and "
        "TREFOIL_ALGORITHM are ignored.\n"
        "Example: trefoil tune --torus 3x3 -e 1M && TREFOIL_TUNING=trefoil-tuning.json trefoil "
        "explain allreduce 64K --torus 3x3 --backend memory");
    command->callback([options, &invocation, &body] {
        body = [options, &invocation] { return tune(*options, invocation.arguments); };
    });
}

}  // namespace trefoil::tool
