// SPDX-License-Identifier: BSD-3-Clause
// The table of options, and how they are read, printed and refused.
#include "algorithms/schedule/options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "topo/words.hpp"

namespace trefoil {

namespace {

template <auto member>
std::int64_t get(const BuildOptions& options) {
    return static_cast<std::int64_t>(options.*member);
}

template <auto member>
void set(BuildOptions& options, std::int64_t value) {
    using Field = std::remove_reference_t<decltype(options.*member)>;
    options.*member = static_cast<Field>(value);
}

constexpr std::string_view no_layouts = "has no choice of layouts";
constexpr std::string_view no_rotation = "does not rotate the dimensions";
constexpr std::int64_t any_number = std::numeric_limits<int>::max();

constexpr OptionValue layouts[] = {
    {"block-by-block", &Abilities::layouts, no_layouts, "layouts"},
    {"permute", &Abilities::layouts, no_layouts, "layouts"},
    {"send", &Abilities::layouts, no_layouts, "layouts"},
    {"two-transmissions", &Abilities::layouts, no_layouts, "layouts"}};
constexpr OptionValue single_port[] = {
    {"single-port", &Abilities::single_port, "has no single-port variant", "single-port"}};
constexpr OptionValue piece_counts[] = {
    {"pieces-", &Abilities::pieces, "is not pipelined and takes no number of pieces", "pieces"}};
constexpr OptionValue radix[] = {
    {"radix-", &Abilities::radix, "has no digits and takes no radix", "radix"}};
constexpr OptionValue ports[] = {
    {"ports-", &Abilities::ports, "takes no number of ports", "ports"}};
constexpr OptionValue rotations[] = {{"split", &Abilities::rotation, no_rotation, "rotation"},
                                     {"class", &Abilities::rotation, no_rotation, "rotation"}};
constexpr OptionValue binary[] = {
    {"binary", &Abilities::binary, "has no binary first phase", "binary"}};
constexpr OptionValue syncs[] = {
    {"signals", &Abilities::signals, "has no signals between its phases", "signals"},
    {"barrier", &Abilities::barriers, "has no phases to keep apart", "barrier"}};
constexpr OptionValue by_node[] = {
    {"by-node", &Abilities::by_node, "does not serve between nodes of several ranks", "by-node"}};

constexpr Option known_options[] = {
    {.name = "layout",
     .unset = "automatic",
     .help = "How blocks that the algorithm reorders travel, where it has a choice",
     .get = get<&BuildOptions::layout>,
     .set = set<&BuildOptions::layout>,
     .values = layouts},
    {.name = "single-port",
     .unset = "",
     .help = "The variant that uses one port at a time, where there is one",
     .get = get<&BuildOptions::single_port>,
     .set = set<&BuildOptions::single_port>,
     .values = single_port},
    {.name = "pieces",
     .unset = "",
     .help = "Pieces of a pipelined algorithm (default: its own choice)",
     .get = get<&BuildOptions::pieces>,
     .set = set<&BuildOptions::pieces>,
     .values = piece_counts,
     .least = 1,
     .most = most_pieces},
    {.name = "radix",
     .unset = "",
     .help = "alltoall: the base of digits (default: the algorithm's own, mostly 2)",
     .get = get<&BuildOptions::radix>,
     .set = set<&BuildOptions::radix>,
     .values = radix,
     .least = 2,
     .most = any_number},
    {.name = "ports",
     .unset = "",
     .help = "alltoall by bruck: messages per step (default: 1)",
     .get = get<&BuildOptions::ports>,
     .set = set<&BuildOptions::ports>,
     .values = ports,
     .least = 1,
     .most = any_number},
    {.name = "rotation",
     .unset = "automatic",
     .help = "alltoall: what each rotated order of the dimensions carries, a slice of every block "
             "or whole blocks",
     .get = get<&BuildOptions::rotation>,
     .set = set<&BuildOptions::rotation>,
     .values = rotations},
    {.name = "binary",
     .unset = "",
     .help = "alltoall by c64 and partition: a first phase of two steps instead of three",
     .get = get<&BuildOptions::binary>,
     .set = set<&BuildOptions::binary>,
     .values = binary},
    {.name = "sync",
     .unset = "none",
     .help = "alltoall: what keeps the phases apart, for networks in which messages block each "
             "other",
     .get = get<&BuildOptions::sync>,
     .set = set<&BuildOptions::sync>,
     .values = syncs},
    {.name = "by-node",
     .unset = "",
     .help = "On nodes of several ranks (3x3x2h): between nodes alone, and inside them before and "
             "after",
     .get = get<&BuildOptions::by_node>,
     .set = set<&BuildOptions::by_node>,
     .values = by_node},
};

/// What `option` asks in these options; only where it is set.
const OptionValue& asked(const Option& option, std::int64_t value) {
    return option.values[option.is_number() ? 0 : static_cast<std::size_t>(value - 1)];
}

std::string typed(const Option& option, std::int64_t value) {
    return std::string(asked(option, value).text) +
           (option.is_number() ? std::to_string(value) : std::string());
}

std::string range_text(const Option& option) {
    return "at least " + std::to_string(option.least) +
           (option.most < any_number ? " and at most " + std::to_string(option.most) : "");
}

bool in_range(const Option& option, std::int64_t number) {
    return option.least <= number && number <= option.most;
}

std::string set_number(BuildOptions& options, const Option& option, std::string_view text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const std::string prefix(option.values.front().text);
    if (error != std::errc() || rest != end || !in_range(option, number)) {
        return "\"" + prefix + std::string(text) + "\" needs a whole number of " +
               range_text(option) + ", as in " + prefix + "8";
    }
    option.set(options, number);
    return {};
}

bool set_word(BuildOptions& options, const Option& option, std::string_view word) {
    for (std::size_t i = 0; i < option.values.size(); ++i) {
        if (word == option.values[i].text) {
            option.set(options, static_cast<std::int64_t>(i + 1));
            return true;
        }
    }
    return false;
}

constexpr Abilities every_ability{true, true, true, true, true, true, true, true, true, true};

/// ", or take barrier": another value of the same option that the algorithm does understand.
std::string alternative(const Option& option, const Abilities& abilities) {
    for (const OptionValue& value : option.values) {
        if (abilities.*value.ability) {
            return ", or take " + std::string(value.text);
        }
    }
    return ", or take an algorithm that has it: `trefoil info -v` lists which do";
}

/// What a value of an option of words is called.
template <typename Value>
std::string_view word(std::string_view unset, std::span<const OptionValue> values, Value value) {
    const auto index = static_cast<std::size_t>(value);
    return index == 0 ? unset : values[index - 1].text;
}

}  // namespace

std::string_view to_string(Layout layout) {
    return word("automatic", layouts, layout);
}

std::string_view to_string(Rotation rotation) {
    return word("automatic", rotations, rotation);
}

std::string_view to_string(PhaseSync sync) {
    return word("none", syncs, sync);
}

std::span<const Option> option_table() {
    return known_options;
}

std::string modifiers_text(const BuildOptions& options) {
    std::string text;
    for (const Option& option : known_options) {
        const std::int64_t value = option.get(options);
        if (value != 0) {
            text += ":" + typed(option, value);
        }
    }
    return text;
}

std::string add_modifier(BuildOptions& options, std::string_view modifier) {
    for (const Option& option : known_options) {
        const std::string_view prefix = option.values.front().text;
        if (option.is_number() && modifier.starts_with(prefix)) {
            return set_number(options, option, modifier.substr(prefix.size()));
        }
        if (!option.is_number() && set_word(options, option, modifier)) {
            return {};
        }
    }
    return "there is no modifier \"" + std::string(modifier) + "\"; there are " +
           joined(modifiers(every_ability)) + " (8 stands for any number)";
}

std::string add_modifiers(BuildOptions& options, std::string_view modifiers) {
    while (!modifiers.empty()) {
        const std::string_view one = modifiers.substr(0, modifiers.find(':'));
        const std::string reason = add_modifier(options, one);
        if (!reason.empty()) {
            return reason;
        }
        modifiers.remove_prefix(std::min(modifiers.size(), one.size() + 1));
    }
    return {};
}

std::string set_option(BuildOptions& options, const Option& option, std::string_view value) {
    if (option.is_number()) {
        return set_number(options, option, value);
    }
    if (value == option.unset) {
        option.set(options, 0);
        return {};
    }
    if (set_word(options, option, value)) {
        return {};
    }
    return "there is no " + std::string(option.name) + " \"" + std::string(value) +
           "\"; there are " + joined(words_of(option));
}

std::vector<std::string> words_of(const Option& option) {
    std::vector<std::string> words;
    for (const OptionValue& value : option.values) {
        words.push_back(std::string(value.text) + (option.is_number() ? "8" : ""));
    }
    return words;
}

std::vector<std::string> modifiers(const Abilities& abilities) {
    std::vector<std::string> all;
    for (const Option& option : known_options) {
        const std::vector<std::string> words = words_of(option);
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (abilities.*option.values[i].ability) {
                all.push_back(words[i]);
            }
        }
    }
    return all;
}

std::string not_understood(const BuildOptions& options, const Abilities& abilities) {
    for (const Option& option : known_options) {
        const std::int64_t value = option.get(options);
        if (value == 0) {
            continue;
        }
        const OptionValue& what = asked(option, value);
        if (!(abilities.*what.ability)) {
            return std::string(what.lacking) + "; leave " + typed(option, value) + " out" +
                   alternative(option, abilities);
        }
        if (option.is_number() && !in_range(option, value)) {
            return "takes " + std::string(option.name) + " of " + range_text(option) + ", not " +
                   std::to_string(value);
        }
    }
    return {};
}

}  // namespace trefoil
