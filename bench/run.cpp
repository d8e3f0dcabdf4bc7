// SPDX-License-Identifier: BSD-3-Clause
// `trefoil run`: starts a program as local ranks.
#include <fmt/core.h>

#include <cmath>
#include <memory>

#include "bench/command.hpp"
#include "bench/launcher.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

struct Options {
    Rank ranks = 0;
    std::string torus, backend, provider;
    bool label = true;
    double timeout = 0, grace = 5;
    std::vector<std::string> program;
};

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

int run_program(const Options& options) {
    Job job;
    job.ranks = options.ranks;
    job.command = options.program;
    job.output = options.label ? Job::Output::labelled : Job::Output::plain;
    job.timeout = milliseconds(options.timeout);
    job.grace = milliseconds(options.grace);
    if (job.command.empty()) {
        throw Error(Status::invalid_argument,
                    "run needs a program: trefoil run -n 4 -- ./program arguments");
    }
    if (!options.torus.empty()) {
        const Torus torus = Torus::parse(options.torus);
        if (job.ranks != 0 && job.ranks != torus.ranks()) {
            throw Error(Status::invalid_argument,
                        fmt::format("-n {} does not match --torus {}, which has {} ranks; give one "
                                    "of them, or make them agree",
                                    job.ranks, torus.name(), torus.ranks()));
        }
        job.ranks = torus.ranks();
        job.torus = torus.name();
    }
    if (job.ranks < 1) {
        throw Error(Status::invalid_argument,
                    "run needs the number of ranks: -n 9, or --torus 3x3");
    }
    if (!options.backend.empty()) {
        job.environment.emplace_back("TREFOIL_BACKEND", options.backend);
    }
    if (!options.provider.empty()) {
        job.environment.emplace_back("TREFOIL_PROVIDER", options.provider);
    }
    return launch(job);
}

}  // namespace

void add_run(CLI::App& app, const Invocation& invocation, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* run = app.add_subcommand("run", "Start a program as local ranks of a torus");
    run->add_option("-n,--ranks", options->ranks, "How many ranks; taken from --torus if left out")
        ->check(CLI::Range(1, 1 << 16));
    run->add_option("--torus", options->torus, "Sizes of the torus, e.g. 3x3 (TREFOIL_TORUS)");
    run->add_option("--backend", options->backend, "memory, ofi or ucx (TREFOIL_BACKEND)");
    run->add_option("--provider", options->provider,
                    "libfabric provider of the ofi backend (TREFOIL_PROVIDER)");
    run->add_flag("--label,!--no-label", options->label,
                  "Open each line of output with its rank: \"[3] \" (default: on)");
    run->add_option("--timeout", options->timeout,
                    "Seconds after which the job is ended with exit code 124 (default: none)")
        ->check(CLI::Range(0.0, 1e6));
    run->add_option("--grace", options->grace,
                    "Seconds that ranks get to end by themselves after one has failed, and after "
                    "SIGTERM before SIGKILL (default: 5)")
        ->check(CLI::Range(0.0, 1e6));
    run->prefix_command();  // what follows the program's name is the program's
    run->footer(
        "The ranks find each other by TREFOIL_RANK, TREFOIL_SIZE and TREFOIL_STORE; the library\n"
        "reads them when a communicator is created without callbacks. SIGINT, SIGTERM and SIGHUP\n"
        "are forwarded. The exit code is that of the first rank that failed, 128 + signal if it "
        "was\n"
        "killed.\n"
        "Options of run come before the program's name; what follows it is the program's.\n"
        "Example: trefoil run -n 9 --torus 3x3 ./my_program --its-option");
    run->callback([run, options, &invocation, &action] {
        options->program = run->remaining();
        options->program.insert(options->program.end(), invocation.program.begin(),
                                invocation.program.end());
        if (!options->program.empty() && options->program[0].starts_with('-')) {
            throw CLI::ExtrasError(run->get_name(), {options->program[0]});
        }
        action = [options] { return run_program(*options); };
    });
}

}  // namespace trefoil::tool
