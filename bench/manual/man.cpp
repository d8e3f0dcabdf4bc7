// SPDX-License-Identifier: BSD-3-Clause
// Writes manual pages.
#include "bench/manual/man.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace trefoil::tool {
namespace {

/// Text in which nothing is a request or an escape of roff. Hyphens stay what can be typed.
std::string plain(const std::string& text) {
    std::string out;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && (c == '.' || c == '\'')) {
            out += "\\&";
        }
        line_begins = c == '\n';
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    return out;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

/// Lines as they are, without empty ones at the ends.
std::string kept_lines(const std::string& text) {
    const auto begin = text.find_first_not_of('\n'), end = text.find_last_not_of('\n');
    if (begin == std::string::npos) {
        return "";
    }
    return fmt::format(".nf\n{}\n.fi\n", plain(text.substr(begin, end - begin + 1)));
}

std::string options_of(const std::vector<OptionText>& options) {
    std::string out;
    for (const OptionText& option : options) {
        std::vector<std::string> names;
        for (const std::string& name : option.names) {
            names.push_back(fmt::format("\\fB{}\\fR", plain(name)));
        }
        const std::string value =
            option.value.empty() ? "" : fmt::format(" {}", plain(option.value));
        out += fmt::format(".TP\n{}{}\n{}\n", join(names, ", "), value, plain(option.help));
    }
    return out;
}

/// Options by group, in the order in which groups come first.
std::string all_options(const std::vector<OptionText>& options) {
    std::vector<std::string> groups;
    for (const OptionText& option : options) {
        if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
            groups.push_back(option.group);
        }
    }
    std::string out;
    for (const std::string& group : groups) {
        std::vector<OptionText> members;
        std::copy_if(options.begin(), options.end(), std::back_inserter(members),
                     [&](const OptionText& option) { return option.group == group; });
        out += fmt::format(".SS \"{}\"\n{}", plain(group), options_of(members));
    }
    return out;
}

std::string synopsis(const CommandText& command) {
    std::string out = fmt::format(".B {}\n", plain(join(command.words, " ")));
    out += "[\\fIOPTIONS\\fR]";
    for (const OptionText& argument : command.arguments) {
        out += fmt::format(" [\\fI{}\\fR]", plain(argument.names.front()));
    }
    if (command.takes_program) {
        out += " [\\-\\-] \\fIPROGRAM\\fR [\\fIARGUMENTS\\fR...]";
    }
    if (!command.parts.empty()) {
        out += command.words.size() == 1 ? " \\fICOMMAND\\fR" : " [\\fICOMMAND\\fR]";
    }
    return out + "\n";
}

}  // namespace

std::string man_page(const CommandText& command, const std::vector<CommandText>& all,
                     const std::string& version) {
    const std::string name = join(command.words, "-");
    std::string out = fmt::format(
        ".TH \"{}\" 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}",
        plain(upper(name)), version, plain(name), plain(command.help), synopsis(command));
    if (!command.arguments.empty()) {
        out += ".SH ARGUMENTS\n" + options_of(command.arguments);
    }
    out += ".SH OPTIONS\n" + all_options(command.options);
    std::vector<std::string> related;
    std::string parts;
    for (const CommandText& other : all) {
        if (command.has_part(other)) {
            parts +=
                fmt::format(".TP\n\\fB{}\\fR\n{}\n", plain(other.words.back()), plain(other.help));
        }
        if (other.words != command.words) {
            related.push_back(fmt::format("\\fB{}\\fR(1)", plain(join(other.words, "-"))));
        }
    }
    if (!parts.empty()) {
        out += ".SH COMMANDS\n" + parts;
    }
    if (const std::string notes = kept_lines(command.footer); !notes.empty()) {
        out += ".SH NOTES\n" + notes;
    }
    if (!related.empty()) {
        out += ".SH \"SEE ALSO\"\n" + join(related, ",\n") + "\n";
    }
    return out;
}

}  // namespace trefoil::tool
