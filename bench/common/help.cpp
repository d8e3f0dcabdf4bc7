// SPDX-License-Identifier: BSD-3-Clause
// Translates what the parser knows.
#include "bench/common/help.hpp"

#include <algorithm>

#include "algorithms/schedule/nearest_names.hpp"

namespace trefoil::tool {

namespace {

class HelpFormatter : public CLI::Formatter {
  public:
    std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
        if (is_positional) {
            return option->get_name(true, false);
        }
        std::string names;
        const auto add = [&](const std::string& dashes, const std::vector<std::string>& all) {
            for (const std::string& name : all) {
                names += (names.empty() ? "" : ",") + dashes + name;
            }
        };
        add("-", option->get_snames());
        add("--", option->get_lnames());
        return names;
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        const std::string text = value_text(*option);
        return text.empty() ? text : " " + text;
    }
};

std::string names_text(const std::set<CLI::Option*>& options) {
    std::vector<std::string> names;
    for (const CLI::Option* option : options) {
        names.push_back(option->get_name());
    }
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, ", "));
}

/// The subcommand that was given; `perf put` for `put`.
const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* inner = &app;
    while (!inner->get_subcommands().empty()) {
        inner = inner->get_subcommands().front();
    }
    return *inner;
}

std::string unexpected(const CLI::App& app) {
    std::vector<std::string> extras = app.remaining(true);
    const auto option = std::find_if(extras.begin(), extras.end(),
                                     [](const std::string& word) { return word.starts_with('-'); });
    const std::string word = option != extras.end() ? *option
                             : extras.empty()       ? std::string()
                                                    : extras.front();
    const CLI::App& inner = innermost(app);
    std::vector<std::string> known;
    for (const CLI::Option* each : inner.get_options()) {
        for (const std::string& name : each->get_lnames()) {
            if (!each->get_group().empty()) {
                known.push_back("--" + name);
            }
        }
    }
    for (const CLI::App* part : inner.get_subcommands([](const CLI::App*) { return true; })) {
        known.push_back(part->get_name());
    }
    const std::vector<std::string> near = nearest_names(word, known);
    return fmt::format("{} does not take \"{}\"{}", command_text(app), word,
                       near.empty() ? "" : "; did you mean " + near.front() + "?");
}

}  // namespace

std::string value_text(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (option.get_type_size() == 0 || type.empty()) {
        return "";
    }
    const std::size_t colon = type.find(':');
    std::string text = type.substr(0, colon);
    std::string rule = colon == std::string::npos ? "" : type.substr(colon + 1);
    if (text == "INT" || text == "UINT" || text == "FLOAT") {
        text = "NUMBER";
    } else if (text == "BOOLEAN") {
        text = "0|1";
    }
    if (rule.starts_with('{') && rule.ends_with('}')) {
        text = rule.substr(1, rule.size() - 2);
        std::replace(text.begin(), text.end(), ',', '|');
    } else if (!rule.empty()) {
        text += " (" + rule + ")";
    }
    if (!option.get_needs().empty()) {
        text += ", only with " + names_text(option.get_needs());
    }
    if (!option.get_excludes().empty()) {
        text += ", not with " + names_text(option.get_excludes());
    }
    return text;
}

std::shared_ptr<CLI::Formatter> make_help_formatter() {
    auto formatter = std::make_shared<HelpFormatter>();
    formatter->label("Positionals", "Arguments");
    return formatter;
}

std::string command_text(const CLI::App& app) {
    std::string command;
    for (const CLI::App* each = &innermost(app); each != nullptr; each = each->get_parent()) {
        command = each->get_name() + (command.empty() ? "" : " ") + command;
    }
    return command;
}

std::string message_of(const CLI::ParseError& error, const CLI::App& app) {
    const std::string kind = error.get_name(), text = error.what();
    const std::string name = text.substr(0, text.find_first_of(": "));
    const auto replaced = [&](const std::string& from, const std::string& to) {
        return CLI::detail::find_and_replace(text, from, to);
    };
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {  // its name is the command's
        return unexpected(app);
    }
    if (kind == "ConversionError") {  // "Could not convert: --iters = many"
        const std::size_t name_at = text.find(": "), value_at = text.find(" = ");
        if (name_at != std::string::npos && value_at != std::string::npos && name_at < value_at) {
            return fmt::format("{} does not take \"{}\"",
                               text.substr(name_at + 2, value_at - name_at - 2),
                               text.substr(value_at + 3));
        }
    }
    if (kind == "ArgumentMismatch") {
        return name + " needs a value";
    }
    if (kind == "ValidationError") {  // "--iters: takes a number"
        return replaced(name + ": ", name + " ");
    }
    if (kind == "RequiredError" && innermost(app).get_parent() == nullptr) {
        return app.remaining(true).empty() ? "say what to do: trefoil COMMAND, such as trefoil info"
                                           : unexpected(app);
    }
    if (kind == "ExcludesError") {
        return replaced(" excludes ", " does not go with ");
    }
    if (kind == "RequiresError") {
        return replaced(" requires ", " needs ");
    }
    return text;
}

CLI::Validator one_of(const std::vector<std::string>& words) {
    return {[words](std::string& text) {
                return std::ranges::count(words, text) > 0
                           ? std::string()
                           : fmt::format("takes one of {}, not \"{}\"", fmt::join(words, ", "),
                                         text);
            },
            fmt::format("{{{}}}", fmt::join(words, ","))};
}

}  // namespace trefoil::tool
