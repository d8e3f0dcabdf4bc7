// SPDX-License-Identifier: BSD-3-Clause
// What the user forces: algorithm names with modifiers, and the list in TREFOIL_ALGORITHM.
#include "comm/plan/choices.hpp"

#include <algorithm>

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
    while (!rest.empty()) {
        const std::string reason = add_modifier(choice.options, next(rest, ':'));
        if (!reason.empty()) {
            refuse(text, reason);
        }
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

std::vector<std::pair<Collective, std::string>> split_choices(std::string_view text) {
    std::vector<std::pair<Collective, std::string>> list;
    while (!text.empty()) {
        std::string_view entry = next(text, ',');
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) {
            list.emplace_back(Collective::allreduce, entry);
            continue;
        }
        list.emplace_back(find_collective(entry.substr(0, equals)), entry.substr(equals + 1));
    }
    return list;
}

}  // namespace trefoil
