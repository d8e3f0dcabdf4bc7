// SPDX-License-Identifier: BSD-3-Clause
// What the command's parser knows about its subcommands and options, as plain text.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace trefoil::tool {

struct OptionText {
    std::vector<std::string> names;    ///< "-n", "--ranks"; of an argument its name alone
    std::string value;                 ///< "NUMBER (1 to 65536)"; empty: a flag
    std::vector<std::string> choices;  ///< all values that the parser accepts, where it knows them
    std::string help, group;
};

struct CommandText {
    std::vector<std::string> words;  ///< "trefoil", "perf", "put"
    std::string help, footer;
    bool takes_program = false;  ///< a program and its arguments follow the options
    std::vector<OptionText> arguments, options;
    std::vector<std::string> parts;  ///< the last words of its subcommands
    /// `other` is one of its subcommands.
    bool has_part(const CommandText& other) const;
};

/// `app` and all its subcommands, each before its own. Hidden ones are left out.
std::vector<CommandText> describe(const CLI::App& app);

/// Strings with something between them.
std::string join(const std::vector<std::string>& strings, const std::string& between);

}  // namespace trefoil::tool
