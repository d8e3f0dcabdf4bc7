// SPDX-License-Identifier: BSD-3-Clause
// Fields: known ones only, and of the right kind.
#include "algorithms/json/checked_object.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "algorithms/schedule/nearest_names.hpp"
#include "topo/error.hpp"

namespace trefoil {

using nlohmann::json;

namespace {

std::string in_quotes(const char* name) {
    return std::string("\"") + name + "\"";
}

/// The value as it stands there, as far as it is short.
std::string shown(const json& value) {
    constexpr std::size_t most = 60;
    const std::string text = value.dump();
    return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// Empty: it is one of the fields.
std::string unknown_field(const std::string& name, std::initializer_list<Field> fields) {
    std::vector<std::string> names;
    for (const Field& field : fields) {
        if (name == field.name) {
            return {};
        }
        names.emplace_back(field.name);
    }
    const auto nearest = nearest_names(name, names);
    return "there is no field \"" + name + "\"" +
           (nearest.empty() ? "" : "; did you mean \"" + nearest.front() + "\"?");
}

}  // namespace

void refuse_text(const std::string& subject, const std::string& place, const std::string& reason) {
    throw Error(Status::invalid_argument, "the " + subject + " cannot be used: " +
                                              (place.empty() ? "" : place + ": ") + reason);
}

CheckedObject::CheckedObject(const json& value, std::string place,
                             std::initializer_list<Field> fields, const char* subject)
    : value_(value), place_(std::move(place)), subject_(subject) {
    if (!value_.is_object()) {
        refuse("is not an object");
    }
    for (const auto& [name, unused] : value_.items()) {
        if (const std::string reason = unknown_field(name, fields); !reason.empty()) {
            refuse(reason);
        }
    }
    for (const Field& field : fields) {
        if (field.needed && !value_.contains(field.name)) {
            refuse(in_quotes(field.name) + " is missing");
        }
    }
}

bool CheckedObject::has(const char* name) const {
    return value_.contains(name);
}
const json& CheckedObject::at(const char* name) const {
    return value_.at(name);
}

std::int64_t CheckedObject::number(const char* name, std::int64_t least, std::int64_t most) const {
    return number_of(at(name), in_quotes(name), least, most);
}

std::int64_t CheckedObject::number_of(const json& value, const std::string& what,
                                      std::int64_t least, std::int64_t most) const {
    // A number above the signed range would come out negative.
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() ||
                       value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)) &&
                      value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most;
    if (!fits) {
        refuse(what + " is " + shown(value) + ", not a whole number from " + std::to_string(least) +
               " to " + std::to_string(most));
    }
    return value.get<std::int64_t>();
}

std::string CheckedObject::text(const char* name) const {
    if (!at(name).is_string()) {
        refuse(in_quotes(name) + " is " + shown(at(name)) + ", not a text");
    }
    return at(name).get<std::string>();
}

bool CheckedObject::flag(const char* name) const {
    if (!has(name)) {
        return false;
    }
    if (!at(name).is_boolean()) {
        refuse(in_quotes(name) + " is " + shown(at(name)) + ", not true or false");
    }
    return at(name).get<bool>();
}

const json& CheckedObject::list(const char* name) const {
    if (!at(name).is_array()) {
        refuse(in_quotes(name) + " is not a list");
    }
    return at(name);
}

Action CheckedObject::action() const {
    const std::string name = text("action");
    if (name == "prepend") {
        return Action::prepend;
    }
    if (name != "replace" && name != "reduce") {
        refuse("\"action\" is \"" + name + "\"; give replace, reduce or prepend");
    }
    return name == "reduce" ? Action::reduce : Action::replace;
}

}  // namespace trefoil
