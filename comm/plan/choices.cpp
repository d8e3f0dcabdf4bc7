// SPDX-License-Identifier: BSD-3-Clause
// What the user forces: algorithm names with modifiers, and the list in TREFOIL_ALGORITHM.
#include "comm/plan/choices.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/registry/registry.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
    throw Error(Status::invalid_argument, "algorithm \"" + std::string(text) + "\": " + reason);
}

/// The text up to `separator`, which is taken off `rest` with it.
std::string_view next(std::string_view& rest, char separator) {
    const std::string_view part = rest.substr(0, rest.find(separator));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
}

}  // namespace

std::string to_string(const Choice& choice) {
    return std::string(choice.algorithm == nullptr ? "auto" : choice.algorithm->name) +
           modifiers_text(choice.options);
}

std::string refusal(const Choice& choice, const Torus& torus) {
    return choice.algorithm == nullptr ? std::string()
                                       : choice.algorithm->refusal(torus, choice.options);
}

Choice parse_choice(Collective collective, std::string_view text) {
    Choice choice;
    std::string_view rest = text;
    const std::string_view name = next(rest, ':');
    const std::string reason = add_modifiers(choice.options, rest);
    if (!reason.empty()) {
        refuse(text, reason);
    }
    if (name == "auto") {
        if (choice.options != BuildOptions{}) {
            refuse(text, "auto takes no modifiers");
        }
        return choice;
    }
    choice.algorithm = &find_algorithm(collective, name);
    return choice;
}

Choice parse_choice(Collective collective, std::string_view text, const Torus& torus) {
    Choice choice = parse_choice(collective, text);
    const std::string reason = refusal(choice, torus);
    if (!reason.empty()) {
        throw Error(Status::unsupported, "algorithm " + std::string(text) +
                                             " does not run on the torus " + torus.name() + ": " +
                                             reason);
    }
    return choice;
}

namespace {

[[noreturn]] void refuse_rule(std::string_view entry, const std::string& reason) {
    throw Error(Status::invalid_argument, "rule \"" + std::string(entry) + "\": " + reason);
}

Collective collective_of(std::string_view entry, std::string_view name) {
    try {
        return find_collective(name);
    } catch (const Error& error) {
        throw Error(error.status(), "rule \"" + std::string(entry) + "\": " + error.what());
    }
}

SizeRange range_of(std::string_view entry, std::string_view text) {
    const std::optional<SizeRange> range = parse_size_range(text);
    const std::string quoted = "\"" + std::string(text) + "\"";
    if (!range) {
        refuse_rule(entry,
                    quoted + " is not a range of bytes; give " + std::string(size_range_syntax));
    }
    if (range->is_reversed()) {
        refuse_rule(entry, "the range " + quoted + " ends below its beginning; give " +
                               std::string(size_range_syntax));
    }
    return *range;
}

AlgorithmRule parse_rule(std::string_view entry) {
    AlgorithmRule rule{.text = std::string(entry), .algorithm = std::string(entry)};
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) {
        return rule;
    }
    rule.algorithm = entry.substr(equals + 1);
    const std::string_view what = entry.substr(0, equals);
    const std::size_t colon = what.find(':');
    rule.collective = collective_of(entry, what.substr(0, colon));
    if (colon != std::string_view::npos) {
        rule.has_range = true;
        rule.bytes = range_of(entry, what.substr(colon + 1));
        if (!traits_of(rule.collective).has_data()) {
            refuse_rule(entry, std::string(to_string(rule.collective)) +
                                   " moves no data, so no range of bytes can be given");
        }
    }
    return rule;
}

}  // namespace

std::vector<AlgorithmRule> split_choices(std::string_view text) {
    std::vector<AlgorithmRule> rules;
    while (!text.empty()) {
        AlgorithmRule rule = parse_rule(next(text, ','));
        for (const AlgorithmRule& other : rules) {
            if (rule.has_range && other.has_range && rule.collective == other.collective &&
                rule.bytes.meets(other.bytes)) {
                refuse_rule(rule.text, "its range has sizes in common with that of \"" +
                                           other.text + "\"; both ends belong to a range");
            }
        }
        rules.push_back(std::move(rule));
    }
    return rules;
}

}  // namespace trefoil
