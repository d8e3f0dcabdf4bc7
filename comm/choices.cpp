// SPDX-License-Identifier: BSD-3-Clause
// What the user forces: algorithm names with modifiers, and the list in TREFOIL_ALGORITHM.
#include "comm/choices.hpp"

#include <charconv>

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

constexpr std::string_view single_port = "single-port", pieces = "pieces-";

void modify(BuildOptions& options, std::string_view text, std::string_view modifier) {
    if (modifier == single_port) {
        options.single_port = true;
        return;
    }
    if (modifier.starts_with(pieces)) {
        const char* const end = modifier.data() + modifier.size();
        const auto [rest, error] =
            std::from_chars(modifier.data() + pieces.size(), end, options.pieces);
        if (error != std::errc() || rest != end || options.pieces == 0) {
            refuse(text,
                   "\"" + std::string(modifier) + "\" is no number of pieces; write pieces-8");
        }
        return;
    }
    for (const Layout layout :
         {Layout::block_by_block, Layout::permute, Layout::send, Layout::two_transmissions}) {
        if (modifier == to_string(layout)) {
            options.layout = layout;
            return;
        }
    }
    refuse(text, "there is no modifier \"" + std::string(modifier) +
                     "\"; there are single-port, pieces-8 (or any other number), "
                     "block-by-block, permute, send and two-transmissions");
}

}  // namespace

std::string to_string(const Choice& choice) {
    std::string text(choice.algorithm == nullptr ? "auto" : choice.algorithm->name);
    if (choice.options.layout != Layout::automatic) {
        text += ":" + std::string(to_string(choice.options.layout));
    }
    if (choice.options.single_port) {
        text += ":" + std::string(single_port);
    }
    if (choice.options.pieces != 0) {
        text += ":" + std::string(pieces) + std::to_string(choice.options.pieces);
    }
    return text;
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
        modify(choice.options, text, next(rest, ':'));
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
        list.emplace_back(collective_named(entry.substr(0, equals)), entry.substr(equals + 1));
    }
    return list;
}

Collective collective_named(std::string_view name) {
    std::string known;
    for (const Collective collective : collectives()) {
        if (to_string(collective) == name) {
            return collective;
        }
        known += (known.empty() ? "" : ", ") + std::string(to_string(collective));
    }
    throw Error(Status::not_found,
                "no collective is named \"" + std::string(name) + "\"; there are " + known);
}

}  // namespace trefoil
