// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of the `trefoil` tool: each registers its options and says what to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace trefoil::tool {

/// Exit codes of the tool itself. `trefoil run` passes on those of its ranks.
enum ExitCode : int {
    exit_success = 0,
    exit_wrong = 1,      ///< a result or a proof is wrong
    exit_bad_input = 2,  ///< nothing was run
    exit_failure = 3     ///< the run could not be completed
};

/// What main() runs after parsing; returns the exit code.
using CommandBody = std::function<int()>;

/// What the subcommands need to know besides their own options.
struct Invocation {
    std::vector<std::string> arguments;  ///< all of them, without the program's name
    std::vector<std::string> program;    ///< what follows "--" (for run)
};

/// Each adds one subcommand to `app`; its body is set when it was the one given.
void add_run(CLI::App& app, const Invocation& invocation, CommandBody& body);
void add_plan(CLI::App& app, CommandBody& body);
void add_info(CLI::App& app, CommandBody& body);
/// Returns `perf`, to which its parts can be added (bench/put/put.hpp).
CLI::App& add_perf(CLI::App& app, const Invocation& invocation, CommandBody& body);

}  // namespace trefoil::tool
