// SPDX-License-Identifier: BSD-3-Clause
// The reader of tuning files.
#include "comm/setup/tuning.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "algorithms/registry/registry.hpp"
#include "backend/registry/transports.hpp"
#include "topo/error.hpp"
#include "topo/json_reason.hpp"
#include "topo/regular_file.hpp"

namespace trefoil {

namespace {

using Json = nlohmann::json;

constexpr const char* format_name = "trefoil-tuning";
constexpr int format_version = 1;

/// Where something is in a file, for messages.
struct Place {
    std::string text;
    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(Status::invalid_argument, text + ": " + why);
    }
    Place inside(const std::string& what, std::size_t index) const {
        return {text + ", " + what + " " + std::to_string(index + 1)};
    }
};

/// An object with these members and no others; those before `needed` must be there.
void require_members(const Json& object, const Place& place,
                     std::initializer_list<const char*> names, std::size_t needed) {
    if (!object.is_object()) {
        place.refuse("is not a JSON object");
    }
    for (const auto& [name, value] : object.items()) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            place.refuse("has a member \"" + name + "\" that does not exist");
        }
    }
    for (auto name = names.begin(); name != names.begin() + needed; ++name) {
        if (!object.contains(*name)) {
            place.refuse("has no member \"" + std::string(*name) + "\"");
        }
    }
}

std::string text_of(const Json& object, const char* name, const Place& place) {
    const Json& value = object.at(name);
    if (!value.is_string()) {
        place.refuse("\"" + std::string(name) + "\" must be a text");
    }
    return value.get<std::string>();
}

std::size_t number_of(const Json& object, const char* name, const Place& place, std::size_t least,
                      std::size_t most) {
    const Json& value = object.at(name);
    if (!value.is_number_unsigned() || value.get<std::size_t>() < least ||
        value.get<std::size_t>() > most) {
        place.refuse("\"" + std::string(name) + "\" must be a whole number from " +
                     std::to_string(least) + " to " + std::to_string(most));
    }
    return value.get<std::size_t>();
}

const Json& list_of(const Json& object, const char* name, const Place& place) {
    const Json& value = object.at(name);
    if (!value.is_array()) {
        place.refuse("\"" + std::string(name) + "\" must be a list");
    }
    return value;
}

/// Runs what throws an Error of its own, and adds the place to it.
template <typename Function>
auto at(const Place& place, Function function) {
    try {
        return function();
    } catch (const Error& error) {
        place.refuse(error.what());
    }
}

TuningRule::Types types_of(const std::string& name, const Place& place) {
    using Types = TuningRule::Types;
    if (name != "all" && name != "any-order" && name != "fixed-order") {
        place.refuse("there are no types \"" + name +
                     "\"; give all, any-order (a reduction gives the same bits in any order) or "
                     "fixed-order");
    }
    return name == "all" ? Types::all : name == "any-order" ? Types::any_order : Types::fixed_order;
}

TuningRule rule_of(const Json& json, const Torus& torus, const Place& place) {
    require_members(json, place, {"collective", "algorithm", "types", "from", "to", "learned"}, 2);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    TuningRule rule;
    rule.collective =
        at(place, [&] { return find_collective(text_of(json, "collective", place)); });
    const std::string text = text_of(json, "algorithm", place);
    const std::string name = text.substr(0, text.find(':'));
    rule.algorithm = at(place, [&] { return &find_algorithm(rule.collective, name); });
    const std::string_view modifiers = std::string_view(text).substr(name.size());
    std::string refusal =
        add_modifiers(rule.options, modifiers.substr(std::min<std::size_t>(1, modifiers.size())));
    if (refusal.empty()) {
        refusal = rule.algorithm->refusal(torus, rule.options);
    }
    if (!refusal.empty()) {
        place.refuse(refusal);
    }
    if (json.contains("types")) {
        rule.types = types_of(text_of(json, "types", place), place);
    }
    if (json.contains("from")) {
        rule.bytes.least = number_of(json, "from", place, 0, most);
    }
    if (json.contains("to")) {
        rule.bytes.most = number_of(json, "to", place, 0, most);
    }
    if (json.contains("learned")) {
        if (!json.at("learned").is_boolean()) {
            place.refuse("\"learned\" must be true or false");
        }
        rule.learned = json.at("learned").get<bool>();
    }
    if (rule.bytes.is_reversed()) {
        place.refuse("\"to\" is smaller than \"from\"");
    }
    return rule;
}

bool meet(const TuningRule& a, const TuningRule& b) {
    using Types = TuningRule::Types;
    return a.collective == b.collective && a.bytes.meets(b.bytes) &&
           (a.types == b.types || a.types == Types::all || b.types == Types::all);
}

/// As TREFOIL_MODEL has it, which reads it.
void take_model(TuningEntry& entry, const Json& json, const Place& place) {
    if (!json.is_object()) {
        place.refuse("\"model\" must be an object");
    }
    std::string text;
    for (const auto& [name, value] : json.items()) {
        const std::string quantity = text_of(json, name.c_str(), place);
        if ((name + quantity).find_first_of(",=") != std::string::npos) {
            place.refuse("\"" + name + "\" of the model: \"" + quantity + "\" is not a quantity");
        }
        text += (text.empty() ? "" : ",") + name + "=" + quantity;
        entry.numbers.push_back(name);
    }
    if (!text.empty()) {
        entry.model = at(place, [&] { return parse_cost_model(text); });
    }
}

TuningEntry entry_of(const Json& json, const Place& place) {
    require_members(json, place,
                    {"torus", "ranks_per_node", "ports", "backend", "made", "model", "rules"}, 4);
    if (json.contains("made")) {
        text_of(json, "made", place);  // for people
    }
    TuningEntry entry;
    const Torus torus = at(place, [&] { return Torus::parse(text_of(json, "torus", place)); });
    const auto ranks = static_cast<std::size_t>(torus.ranks());
    entry.key = {
        torus.name(), static_cast<Rank>(number_of(json, "ranks_per_node", place, 1, ranks)),
        static_cast<int>(number_of(json, "ports", place, 1, 64)), text_of(json, "backend", place)};
    if (entry.key.ports != torus.ports()) {
        place.refuse("a rank of torus " + torus.name() + " has " + std::to_string(torus.ports()) +
                     " ports, not " + std::to_string(entry.key.ports));
    }
    if (registered_transport(entry.key.backend) == nullptr) {
        place.refuse("there is no backend \"" + entry.key.backend + "\"");
    }
    if (json.contains("model")) {
        take_model(entry, json.at("model"), place);
    }
    const Json none = Json::array();
    const Json& rules = json.contains("rules") ? list_of(json, "rules", place) : none;
    for (std::size_t r = 0; r < rules.size(); ++r) {
        const Place here = place.inside("rule", r);
        const TuningRule rule = rule_of(rules[r], torus, here);
        for (std::size_t other = 0; other < r; ++other) {
            if (meet(rule, entry.rules[other])) {
                here.refuse("it has calls in common with rule " + std::to_string(other + 1));
            }
        }
        entry.rules.push_back(rule);
    }
    return entry;
}

Json json_of(std::string_view text, const Place& place) {
    try {
        return Json::parse(text);
    } catch (const Json::exception& error) {
        place.refuse("is not JSON, or cut short: " + json_reason(error));
    }
}

}  // namespace

std::string TuningKey::text() const {
    return torus + " with " + std::to_string(ranks_per_node) + " ranks a node, " +
           std::to_string(ports) + " ports, backend " + backend;
}

const TuningEntry* TuningFile::find(const TuningKey& key) const {
    const auto found = std::ranges::find(entries, key, &TuningEntry::key);
    return found == entries.end() ? nullptr : &*found;
}

std::string TuningFile::keys_text() const {
    std::string text;
    for (const TuningEntry& entry : entries) {
        text += (text.empty() ? "" : "; ") + entry.key.text();
    }
    return text.empty() ? "nothing" : text;
}

namespace {

/// What is left of `rule` where `fresh` goes before it.
void add_rest(std::vector<TuningRule>& rest, TuningRule rule, const TuningRule& fresh) {
    using Types = TuningRule::Types;
    if (!meet(rule, fresh)) {
        rest.push_back(rule);
        return;
    }
    const SizeRange all = rule.bytes;
    if (all.least < fresh.bytes.least) {
        rule.bytes = {all.least, fresh.bytes.least - 1};
        rest.push_back(rule);
    }
    if (all.most > fresh.bytes.most) {
        rule.bytes = {fresh.bytes.most + 1, all.most};
        rest.push_back(rule);
    }
    if (rule.types == Types::all && fresh.types != Types::all) {
        rule.bytes = {std::max(all.least, fresh.bytes.least), std::min(all.most, fresh.bytes.most)};
        rule.types = fresh.types == Types::any_order ? Types::fixed_order : Types::any_order;
        rest.push_back(rule);
    }
}

}  // namespace

std::vector<TuningRule> with_rules(const std::vector<TuningRule>& old,
                                   const std::vector<TuningRule>& fresh) {
    std::vector<TuningRule> rules = old;
    for (const TuningRule& one : fresh) {
        std::vector<TuningRule> rest;
        for (const TuningRule& rule : rules) {
            add_rest(rest, rule, one);
        }
        rules = std::move(rest);
    }
    rules.insert(rules.end(), fresh.begin(), fresh.end());
    return rules;
}

TuningFile parse_tuning_file(std::string_view text, const std::string& path) {
    const Place place{"tuning file " + path};
    const Json json = json_of(text, place);
    TuningFile file{.path = path, .checksum = 0xcbf29ce484222325ULL, .entries = {}};
    for (const char c : text) {
        file.checksum = (file.checksum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    if (!json.is_object() || !json.contains("format") || json["format"] != format_name) {
        place.refuse("\"format\" must be \"" + std::string(format_name) + "\"");
    }
    if (!json.contains("version") || json["version"] != format_version) {
        place.refuse("\"version\" must be " + std::to_string(format_version) +
                     ", which this Trefoil reads");
    }
    require_members(json, place, {"format", "version", "entries"}, 3);
    const Json& entries = list_of(json, "entries", place);
    for (std::size_t e = 0; e < entries.size(); ++e) {
        const Place here = place.inside("entry", e);
        TuningEntry entry = entry_of(entries[e], here);
        if (file.find(entry.key) != nullptr) {
            here.refuse("there is another one for " + entry.key.text());
        }
        file.entries.push_back(std::move(entry));
    }
    return file;
}

TuningFile read_tuning_file(const std::string& path) {
    return parse_tuning_file(read_regular_file(path, "tuning file"), path);
}

}  // namespace trefoil
