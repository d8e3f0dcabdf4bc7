// SPDX-License-Identifier: BSD-3-Clause
// How --help shows options, what they accept, and what is said of a command line that cannot be
// read: in this project's words instead of the parser's.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace trefoil::tool {

/// "NUMBER (1 to 65536), not with --sizes"; empty: a flag.
std::string value_text(const CLI::Option& option);

/// For CLI::App::formatter(); subcommands that are added later inherit it.
std::shared_ptr<CLI::Formatter> make_help_formatter();

/// Why the command line cannot be read.
std::string message_of(const CLI::ParseError& error, const CLI::App& app);
/// The command that was given: "trefoil perf put".
std::string command_text(const CLI::App& app);

/// For CLI::Option::check(): a number from `least` to `most`.
template <typename Number>
CLI::Validator number_in(Number least, Number most) {
    return {[least, most](std::string& text) {
                Number value{};
                const bool good =
                    CLI::detail::lexical_cast(text, value) && least <= value && value <= most;
                return good ? std::string()
                            : fmt::format("takes a number from {} to {}, not \"{}\"", least, most,
                                          text);
            },
            fmt::format("{} to {}", least, most)};
}

/// For CLI::Option::check(): one of these words.
CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace trefoil::tool
