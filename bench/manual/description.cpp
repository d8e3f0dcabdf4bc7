// SPDX-License-Identifier: BSD-3-Clause
// Walks the parser's tree of subcommands.
#include "bench/manual/description.hpp"

#include <algorithm>

#include "bench/common/help.hpp"

namespace trefoil::tool {
namespace {

/// "a", "b" of "TEXT:{a,b}", as the parser writes a set.
std::vector<std::string> choices_of(const std::string& type) {
    const auto begin = type.find('{'), end = type.rfind('}');
    if (begin == std::string::npos || end == std::string::npos || end < begin) {
        return {};
    }
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

OptionText describe(const CLI::Option& option) {
    OptionText text;
    if (option.get_positional()) {
        text.names.push_back(option.get_name(true, false));
    } else {
        for (const std::string& name : option.get_snames()) {
            text.names.push_back("-" + name);
        }
        for (const std::string& name : option.get_lnames()) {
            text.names.push_back("--" + name);
        }
    }
    if (option.get_type_size() != 0) {
        text.value = value_text(option);
        text.choices = choices_of(option.get_type_name());
    }
    text.help = option.get_description();
    text.group = option.get_group();
    return text;
}

void walk(const CLI::App& app, std::vector<std::string> words, std::vector<CommandText>& all) {
    words.push_back(app.get_name());
    CommandText text;
    text.words = words;
    text.help = app.get_description();
    text.footer = app.get_footer();
    text.takes_program = app.get_prefix_command();
    for (const CLI::Option* option : app.get_options()) {
        if (!option->get_group().empty()) {
            (option->get_positional() ? text.arguments : text.options).push_back(describe(*option));
        }
    }
    const auto shown = [](const CLI::App* part) {
        return !part->get_name().empty() && !part->get_group().empty();
    };
    const std::vector<const CLI::App*> parts = app.get_subcommands(shown);
    for (const CLI::App* part : parts) {
        text.parts.push_back(part->get_name());
    }
    all.push_back(std::move(text));
    for (const CLI::App* part : parts) {
        walk(*part, words, all);
    }
}

}  // namespace

bool CommandText::has_part(const CommandText& other) const {
    return other.words.size() == words.size() + 1 &&
           std::equal(words.begin(), words.end(), other.words.begin());
}

std::vector<CommandText> describe(const CLI::App& app) {
    std::vector<CommandText> all;
    walk(app, {}, all);
    return all;
}

std::string join(const std::vector<std::string>& strings, const std::string& between) {
    return CLI::detail::join(strings, between);
}

}  // namespace trefoil::tool
