// SPDX-License-Identifier: BSD-3-Clause
// `trefoil run`: starts a program as local ranks.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "backend/registry/transports.hpp"
#include "bench/common/command.hpp"
#include "bench/common/help.hpp"
#include "bench/common/names.hpp"
#include "bench/common/network_file.hpp"
#include "bench/common/per_node.hpp"
#include "bench/common/renamed_option.hpp"
#include "bench/run/launcher.hpp"
#include "bench/run/net_job.hpp"
#include "topo/error.hpp"
#include "topo/fabric.hpp"

namespace trefoil::tool {

namespace {

struct RunOptions {
    Rank ranks = 0, per_node = 0;
    std::string torus, net, backend, provider, bind = "numa";
    bool label = true;
    double timeout = 0, grace = 5;
    std::vector<std::string> program;
};

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

/// How many ranks, and in which torus: from -n, --torus and --net, which must agree.
void settle_shape(Job& job, const RunOptions& options) {
    const auto disagree = [&](const std::string& option, const std::string& from) {
        throw Error(Status::invalid_argument,
                    fmt::format("{} does not match {}, a {} with {} ranks; give one of them, or "
                                "make them agree",
                                option, from, job.torus, job.ranks));
    };
    const std::string torus =
        options.torus.empty() ? "" : with_nodes(options.torus, options.per_node);
    if (!options.net.empty()) {
        place_in_net(job, options.net, options.per_node);
        if (!options.torus.empty()) {
            const Torus shape = Torus::parse(torus);  // it may say what links lack
            if (wired(shape).sizes() != wired(Torus::parse(job.torus)).sizes() ||
                shape.ranks() != job.ranks) {
                disagree("--torus " + options.torus, "--net " + options.net);
            }
            job.torus = shape.name();
        }
    } else if (!options.torus.empty()) {
        const Torus shape = Torus::parse(torus);
        job.ranks = shape.ranks();
        job.torus = shape.name();
    }
    if (options.ranks != 0 && options.ranks != job.ranks) {
        disagree(fmt::format("-n {}", options.ranks),
                 options.net.empty() ? "--torus " + options.torus : "--net " + options.net);
    }
    if (job.ranks < 1) {
        throw Error(Status::invalid_argument,
                    "run needs the number of ranks: -n 9, --torus 3x3, or --net");
    }
    if (options.per_node != 0 && options.net.empty() && options.torus.empty()) {
        throw Error(Status::invalid_argument,
                    "--per-node needs the torus of the nodes: --torus 3x3, or --net");
    }
}

int run_program(const RunOptions& options) {
    Job job;
    job.ranks = options.ranks;
    job.command = options.program;
    job.output = options.label ? Job::Output::labelled : Job::Output::plain;
    job.bind = options.bind == "numa";
    job.timeout = milliseconds(options.timeout);
    job.grace = milliseconds(options.grace);
    if (job.command.empty()) {
        throw Error(Status::invalid_argument,
                    "run needs a program: trefoil run -n 4 -- ./program arguments");
    }
    settle_shape(job, options);
    if (!options.backend.empty()) {
        check_backend(options.backend);
        job.environment.emplace_back("TREFOIL_BACKEND", options.backend);
    }
    if (!options.provider.empty()) {
        job.environment.emplace_back("TREFOIL_PROVIDER", options.provider);
    }
    return launch(job);
}

}  // namespace

void add_run(CLI::App& app, const Invocation& invocation, CommandBody& body) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* run = app.add_subcommand("run", "Start a program as local ranks of a torus");
    run->add_option("-n,--ranks", options->ranks, "How many ranks (default: those of --torus)")
        ->check(number_in(1, 1 << 16));
    take_network_files(
        run->add_option("-t,--torus", options->torus,
                        "Sizes of the torus, such as 3x3, or FILE.json (TREFOIL_TORUS)"));
    run->add_option(
        "--net", options->net,
        "A network of scripts/torusnet: one rank (or --per-node) in each of its nodes; it "
        "also gives the torus and TREFOIL_NICS; needs root");
    add_per_node(*run, options->per_node);
    run->add_option("--backend", options->backend,
                    "The transport: " + backend_names() + " (TREFOIL_BACKEND)");
    run->add_option("--provider", options->provider,
                    "Provider of the transport (TREFOIL_PROVIDER)");
    run->add_option(
           "--bind", options->bind,
           "numa (default): each rank may use the cores of one NUMA node (of several, where there "
           "are fewer ranks), consecutive ranks the same or the next; none: all cores "
           "that trefoil run may use")
        ->check(one_of({"numa", "none"}));
    run->add_flag("--label,!--no-label", options->label,
                  "Begin each line of output with its rank: \"[3] \" (default: on)");
    run->add_option("--time-limit", options->timeout,
                    "Seconds after which the job is ended with exit code 124 (default: none)")
        ->check(number_in(0.0, 1e6));
    refuse_option(*run, "--timeout",
                  "is how long a rank waits for a peer; write --time-limit to end the job, or set "
                  "TREFOIL_TIMEOUT");
    run->add_option("--grace", options->grace,
                    "Seconds that ranks get to end by themselves after one has failed, and after "
                    "SIGTERM before SIGKILL (default: 5)")
        ->check(number_in(0.0, 1e6));
    // The parser's usage leaves out what follows the options.
    const auto formatter = make_help_formatter();
    formatter->label("OPTIONS", "OPTIONS] [--] PROGRAM [ARGUMENTS...");
    run->formatter(formatter);
    run->prefix_command();  // what follows the program's name is the program's
    run->footer(
        "-np counts as -n. The ranks find each other by TREFOIL_RANK, TREFOIL_SIZE and "
        "TREFOIL_STORE; the library\n"
        "reads them when a communicator is created without callbacks. TREFOIL_TOKEN, a random\n"
        "secret of the job unless you give one, keeps others out. SIGINT, SIGTERM, SIGHUP,\n"
        "SIGUSR1 and SIGUSR2 are forwarded. The exit code is that of the first rank that failed, "
        "128 + signal if it "
        "was\n"
        "killed.\n"
        "Options of run come before the program's name; what follows it is the program's.\n"
        "Example: trefoil run -n 9 --torus 3x3 ./my_program --its-option");
    run->callback([run, options, &invocation, &body] {
        options->program = run->remaining();
        options->program.insert(options->program.end(), invocation.program.begin(),
                                invocation.program.end());
        if (!options->program.empty() && options->program[0].starts_with('-')) {
            throw CLI::ExtrasError(run->get_name(), {options->program[0]});
        }
        body = [options] { return run_program(*options); };
    });
}

}  // namespace trefoil::tool
