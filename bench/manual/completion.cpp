// SPDX-License-Identifier: BSD-3-Clause
// Writes scripts for shells.
#include "bench/manual/completion.hpp"

#include <fmt/format.h>

namespace trefoil::tool {
namespace {

/// In single quotes, for bash and zsh.
std::string quoted_for_shell(const std::string& text) {
    return "'" + CLI::detail::find_and_replace(text, "'", "'\\''") + "'";
}

/// In single quotes, for fish.
std::string fish_quoted(const std::string& text) {
    const std::string safe = CLI::detail::find_and_replace(text, "\\", "\\\\");
    return "'" + CLI::detail::find_and_replace(safe, "'", "\\'") + "'";
}

/// The first sentence or line, since shells show one line.
std::string brief(const std::string& help) {
    return help.substr(0, std::min(help.find('\n'), help.find("; ")));
}

std::vector<std::string> names_of(const std::vector<OptionText>& options) {
    std::vector<std::string> names;
    for (const OptionText& option : options) {
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
}

/// In bash and zsh: `command` becomes the subcommand that the words before the cursor name, and
/// what follows "--" belongs to another program.
std::string find_command(const std::vector<CommandText>& all, const std::string& words) {
    std::string out = fmt::format(
        "    local command=trefoil word\n    for word in {}; do\n"
        "        [[ $word == -- ]] && return 1\n        case \"$command $word\" in\n",
        words);
    for (const CommandText& command : all) {
        if (command.words.size() > 1) {
            const std::string path = join(command.words, " ");
            out += fmt::format("            '{0}') command='{0}' ;;\n", path);
        }
    }
    return out + "        esac\n    done\n";
}

/// For bash and zsh: the values of an option that has few, by its names.
std::string find_values(const std::vector<CommandText>& all) {
    std::string out;
    for (const CommandText& command : all) {
        for (const OptionText& option : command.options) {
            for (const std::string& name : option.names) {
                if (!option.choices.empty()) {
                    out += fmt::format("        '{} {}') values={} ;;\n", join(command.words, " "),
                                       name, quoted_for_shell(join(option.choices, " ")));
                }
            }
        }
    }
    return fmt::format("    case \"$command $previous\" in\n{}    esac\n", out);
}

constexpr const char* heading = "# Completes the words of trefoil; written by `trefoil manual`.\n";

}  // namespace

std::string bash_completion(const std::vector<CommandText>& all) {
    std::string words;
    for (const CommandText& command : all) {
        words += fmt::format(
            "        '{}')\n            parts='{}'\n            options='{}'\n            ;;\n",
            join(command.words, " "), join(command.parts, " "),
            join(names_of(command.options), " "));
    }
    return fmt::format(
        "{}_trefoil() {{\n"
        "    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
        "    local parts='' options='' values=''\n    COMPREPLY=()\n{}"
        "    case \"$command\" in\n{}    esac\n{}"
        "    if [[ -n $values ]]; then\n        parts=$values\n"
        "    elif [[ $current == -* ]]; then\n        parts=$options\n    fi\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$parts\" -- \"$current\")\n}}\n"
        "complete -o bashdefault -o default -F _trefoil trefoil\n",
        heading, find_command(all, "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\""), words, find_values(all));
}

std::string zsh_completion(const std::vector<CommandText>& all) {
    const auto entry = [](const std::string& name, const std::string& help) {
        return quoted_for_shell(name + ":" + brief(help)) + " ";
    };
    std::string lists;
    for (const CommandText& command : all) {
        std::string parts, options;
        for (const CommandText& other : all) {
            if (command.has_part(other)) {
                parts += entry(other.words.back(), other.help);
            }
        }
        for (const OptionText& option : command.options) {
            for (const std::string& name : option.names) {
                options += entry(name, option.help);
            }
        }
        lists += fmt::format(
            "        '{}')\n            parts=({})\n            options=({})\n            ;;\n",
            join(command.words, " "), parts, options);
    }
    return fmt::format(
        "#compdef trefoil\n{}_trefoil() {{\n"
        "    local previous=${{words[CURRENT - 1]}} values=''\n"
        "    local -a parts options\n{}"
        "    case \"$command\" in\n{}    esac\n{}"
        "    if [[ -n $values ]]; then\n        compadd -- ${{=values}}\n"
        "    elif [[ $PREFIX == -* ]]; then\n        _describe option options\n"
        "    elif (( ${{#parts}} )); then\n        _describe command parts || _files\n"
        "    else\n        _files\n    fi\n}}\n_trefoil \"$@\"\n",
        heading, find_command(all, "${words[2,CURRENT - 1]}"), lists, find_values(all));
}

std::string fish_completion(const std::vector<CommandText>& all) {
    std::string out = heading;
    for (const CommandText& command : all) {
        std::vector<std::string> conditions;
        for (std::size_t i = 1; i < command.words.size(); ++i) {
            conditions.push_back("__fish_seen_subcommand_from " + command.words[i]);
        }
        if (!command.parts.empty()) {
            conditions.push_back("not __fish_seen_subcommand_from " + join(command.parts, " "));
        }
        const std::string where =
            fmt::format("complete -c trefoil -n '{}'", join(conditions, "; and "));
        for (const CommandText& part : all) {
            if (command.has_part(part)) {
                out += fmt::format("{} -a {} -d {}\n", where, part.words.back(),
                                   fish_quoted(brief(part.help)));
            }
        }
        for (const OptionText& option : command.options) {
            out += where;
            for (const std::string& name : option.names) {
                out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            }
            out += option.value.empty() ? "" : " -r";
            if (!option.choices.empty()) {
                out += fmt::format(" -f -a {}", fish_quoted(join(option.choices, " ")));
            }
            out += fmt::format(" -d {}\n", fish_quoted(brief(option.help)));
        }
    }
    return out;
}

}  // namespace trefoil::tool
