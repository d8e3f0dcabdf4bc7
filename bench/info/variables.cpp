// SPDX-License-Identifier: BSD-3-Clause
// Writes docs/environment.md from the table of variables.
#include "bench/info/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "comm/setup/environment.hpp"

namespace trefoil::tool {

namespace {

constexpr const char* introduction = R"(# Environment variables

All variables that Trefoil reads. The command writes this page, and a test compares them:

    trefoil info --variables --markdown > docs/environment.md

`trefoil info --variables` shows the values in force here and their sources.

A setting in `trefoil_config_t` overrides a variable, and a variable the default. An empty variable
counts as not set. Most are read when a communicator is made: an invalid value is an error then, and
an unknown name that begins with `TREFOIL_` is a warning with the nearest names. Where it says "the
same on all ranks", the ranks compare the values and refuse to start if they differ. Bytes take `K`,
`M`, `G`, which are powers of 1024. Variables of libfabric (`FI_*`) and UCX (`UCX_*`) keep their
meaning. A set-uid program ignores Trefoil's variables, because one could name a file to be
written.

| Variable | Value | Default | Meaning |
| --- | --- | --- | --- |
)";

/// Of a type such as "on|off|list" the words that can be typed are code, the others say what it is.
/// No bar is left, which would end a table's cell.
std::string text_of_type(std::string_view type) {
    const bool one = type.find('|') == std::string_view::npos;
    std::string text;
    while (!type.empty()) {
        const std::string_view word = type.substr(0, type.find('|'));
        type.remove_prefix(std::min(type.size(), word.size() + 1));
        const bool typed = !one && word != "list" && word != "cores";
        text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(typed ? "`{}`" : "{}"), word);
    }
    return text;
}

}  // namespace

std::string variables_page() {
    std::string page = introduction;
    for (const EnvironmentVariable& v : environment_variables()) {
        const std::string by_default =
            v.default_value.empty() ? "" : fmt::format("`{}`", v.default_value);
        fmt::format_to(std::back_inserter(page), "| `{}` | {} | {} | {} |\n", v.name,
                       text_of_type(v.type), by_default, v.help);
    }
    return page;
}

}  // namespace trefoil::tool
