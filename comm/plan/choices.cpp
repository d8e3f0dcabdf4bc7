// SPDX-License-Identifier: BSD-3-Clause
// What the user forces: algorithm names with modifiers, and the list in TREFOIL_ALGORITHM.
#include "comm/plan/choices.hpp"

#include <charconv>

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

constexpr std::string_view single_port = "single-port", binary = "binary";

/// "pieces-8": a modifier with a number.
struct Numbered {
    std::string_view prefix;
    int least;
};
constexpr Numbered pieces{"pieces-", 1}, radix{"radix-", 2}, ports{"ports-", 1};

/// True if `modifier` begins with the prefix; its number goes to `value`.
template <typename Value>
bool read_number(std::string_view text, std::string_view modifier, Numbered what, Value& value) {
    if (!modifier.starts_with(what.prefix)) {
        return false;
    }
    const char* const end = modifier.data() + modifier.size();
    const auto [rest, error] = std::from_chars(modifier.data() + what.prefix.size(), end, value);
    if (error != std::errc() || rest != end || value < static_cast<Value>(what.least)) {
        refuse(text, "\"" + std::string(modifier) + "\" needs a whole number of at least " +
                         std::to_string(what.least) + ", as in " + std::string(what.prefix) + "8");
    }
    return true;
}

void modify(BuildOptions& options, std::string_view text, std::string_view modifier) {
    if (modifier == single_port) {
        options.single_port = true;
        return;
    }
    if (modifier == binary) {
        options.binary = true;
        return;
    }
    if (read_number(text, modifier, pieces, options.pieces) ||
        read_number(text, modifier, radix, options.radix) ||
        read_number(text, modifier, ports, options.ports)) {
        return;
    }
    for (const Rotation rotation : {Rotation::split, Rotation::whole}) {
        if (modifier == to_string(rotation)) {
            options.rotation = rotation;
            return;
        }
    }
    for (const PhaseSync sync : {PhaseSync::signals, PhaseSync::barrier}) {
        if (modifier == to_string(sync)) {
            options.sync = sync;
            return;
        }
    }
    for (const Layout layout :
         {Layout::block_by_block, Layout::permute, Layout::send, Layout::two_transmissions}) {
        if (modifier == to_string(layout)) {
            options.layout = layout;
            return;
        }
    }
    refuse(text, "there is no modifier \"" + std::string(modifier) +
                     "\"; there are single-port, pieces-8, radix-8, ports-8 (or any other "
                     "number), binary, split, class, signals, barrier, block-by-block, permute, "
                     "send and two-transmissions");
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
        text += ":" + std::string(pieces.prefix) + std::to_string(choice.options.pieces);
    }
    if (choice.options.radix != 0) {
        text += ":" + std::string(radix.prefix) + std::to_string(choice.options.radix);
    }
    if (choice.options.ports != 0) {
        text += ":" + std::string(ports.prefix) + std::to_string(choice.options.ports);
    }
    if (choice.options.rotation != Rotation::automatic) {
        text += ":" + std::string(to_string(choice.options.rotation));
    }
    if (choice.options.binary) {
        text += ":" + std::string(binary);
    }
    if (choice.options.sync != PhaseSync::none) {
        text += ":" + std::string(to_string(choice.options.sync));
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
        list.emplace_back(find_collective(entry.substr(0, equals)), entry.substr(equals + 1));
    }
    return list;
}

}  // namespace trefoil
