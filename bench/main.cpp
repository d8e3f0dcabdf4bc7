// SPDX-License-Identifier: BSD-3-Clause
// The `trefoil` command: reads the command line, runs one subcommand, turns errors into exit codes.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "bench/common/command.hpp"
#include "bench/common/help.hpp"
#include "bench/explain/explain.hpp"
#include "bench/manual/manual.hpp"
#include "bench/put/put.hpp"
#include "bench/sim/sim.hpp"
#include "bench/traffic/traffic.hpp"
#include "bench/tune/tune.hpp"
#include "include/trefoil/trefoil.h"
#include "topo/error.hpp"

namespace trefoil::tool {
namespace {

std::string version_text() {
    return fmt::format("trefoil {}.{}.{}", TREFOIL_VERSION_MAJOR, TREFOIL_VERSION_MINOR,
                       TREFOIL_VERSION_PATCH);
}

/// Splits off what follows "--", which belongs to the program to be run, and lets `-c` stand for
/// `-c 1`: the parser itself cannot tell a missing value from a following word.
Invocation read(int argc, char** argv) {
    Invocation invocation;
    invocation.arguments.assign(argv + 1, argv + argc);
    const bool is_run = argc > 1 && invocation.arguments.front() == "run";
    const auto separator =
        std::find(invocation.arguments.begin(), invocation.arguments.end(), "--");
    if (is_run && separator != invocation.arguments.end()) {
        invocation.program.assign(separator + 1, invocation.arguments.end());
        invocation.arguments.erase(separator, invocation.arguments.end());
    }
    // As mpirun has it. Further back it is the program's, unless "--" says where that begins.
    const auto habit = std::find(invocation.arguments.begin(), invocation.arguments.end(), "-np");
    if (is_run && habit != invocation.arguments.end() &&
        (!invocation.program.empty() || habit == invocation.arguments.begin() + 1)) {
        *habit = "-n";
    }
    for (std::size_t i = 0; i < invocation.arguments.size(); ++i) {
        const bool is_check =
            invocation.arguments[i] == "-c" || invocation.arguments[i] == "--check";
        const bool has_value =
            i + 1 < invocation.arguments.size() &&
            (invocation.arguments[i + 1] == "0" || invocation.arguments[i + 1] == "1");
        if (!is_run && is_check && !has_value) {
            invocation.arguments.insert(invocation.arguments.begin() + i + 1, "1");
        }
    }
    return invocation;
}

/// Of the ranks of one job only the first reports what is wrong with the command line.
bool speaks() {
    const char* rank = std::getenv("TREFOIL_RANK");
    return rank == nullptr || std::string(rank) == "0";
}

int exit_code(Status status) {
    const bool bad_input = status == Status::invalid_argument || status == Status::unsupported ||
                           status == Status::not_found;
    return bad_input ? exit_bad_input : exit_failure;
}

/// Some of libfabric's libraries install handlers when they are loaded; theirs for an interrupt
/// ends the process with exit code 1, or hangs. What the parent has chosen to ignore stays ignored.
void take_back_signals() {
    for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
        struct sigaction present {};
        if (sigaction(number, nullptr, &present) == 0 && present.sa_handler != SIG_IGN) {
            signal(number, SIG_DFL);
        }
    }
}

/// A socket or a file must not take the place of a closed stdin, stdout or stderr. What is written
/// to a closed stdout then fails, as it should.
void occupy_closed_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
            static_cast<void>(open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY));
        }
    }
}

/// A full disk shows when the last output is written.
int after_output(int code) {
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!written) {
        fmt::print(stderr,
                   "trefoil: the output could not be written; is the disk full, or standard output "
                   "closed?\n");
    }
    return written || code != exit_success ? code : static_cast<int>(exit_failure);
}

int run(int argc, char** argv) {
    occupy_closed_descriptors();
    take_back_signals();
    const Invocation invocation = read(argc, argv);
    CLI::App app{"Trefoil: collectives for machines wired as a torus.", "trefoil"};
    app.set_version_flag("--version", version_text(), "Print the version");
    app.formatter(make_help_formatter());
    app.set_help_flag("-h,--help", "Print this help");
    app.require_subcommand(1);
    app.footer(
        "Example: trefoil perf allreduce --torus 3x3 --algorithm all -c\n"
        "`trefoil COMMAND --help` explains each command.");
    CommandBody body;
    add_perf_put(add_perf(app, invocation, body), invocation, body);
    add_tune(app, invocation, body);
    add_plan(app, body);
    add_explain(app, body);
    add_sim(app, body);
    add_traffic(app, body);
    add_run(app, invocation, body);
    add_info(app, body);
    add_manual(app, version_text(), body);
    try {
        std::vector<std::string> reversed(invocation.arguments.rbegin(),
                                          invocation.arguments.rend());
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            return app.exit(error);  // --help and --version
        }
        if (speaks()) {
            fmt::print(stderr, "trefoil: {}\n`{} --help` has more.\n", message_of(error, app),
                       command_text(app));
        }
        return exit_bad_input;
    }
    return body();
}

}  // namespace
}  // namespace trefoil::tool

int main(int argc, char** argv) {
    using namespace trefoil;
    try {
        return tool::after_output(tool::run(argc, argv));
    } catch (const Error& error) {
        const int code = tool::exit_code(error.status());
        if (code != tool::exit_bad_input || tool::speaks()) {
            fmt::print(stderr, "trefoil: {}\n", error.what());
        }
        return code;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "trefoil: out of memory; choose smaller vectors or fewer ranks\n");
        return tool::exit_failure;
    } catch (const std::exception& error) {
        if (std::ferror(stdout) == 0) {
            fmt::print(stderr, "trefoil: internal error, please report it: {}\n", error.what());
        }
        return tool::after_output(tool::exit_failure);
    }
}
