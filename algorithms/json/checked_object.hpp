// SPDX-License-Identifier: BSD-3-Clause
// A JSON object whose fields are checked where they are read, with the place in every message.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// Throws Error(invalid_argument): the `subject` of the text cannot be used. `place`: "rank 3,
/// part 0"; empty: the whole text.
[[noreturn]] void refuse_text(const std::string& subject, const std::string& place,
                              const std::string& reason);
[[noreturn]] inline void refuse_schedule(const std::string& place, const std::string& reason) {
    refuse_text("schedule", place, reason);
}

struct Field {
    const char* name;
    bool needed;
};

/// An object with these fields and no others. Each member throws Error(invalid_argument) for a
/// field of another kind. The JSON value outlives it.
class CheckedObject {
  public:
    CheckedObject(const nlohmann::json& value, std::string place,
                  std::initializer_list<Field> fields, const char* subject = "schedule");

    const std::string& place() const { return place_; }
    bool has(const char* name) const;
    const nlohmann::json& at(const char* name) const;

    /// A whole number in [least, most].
    std::int64_t number(const char* name, std::int64_t least, std::int64_t most) const;
    /// The same of a value that is no field; `what` names it.
    std::int64_t number_of(const nlohmann::json& value, const std::string& what, std::int64_t least,
                           std::int64_t most) const;
    std::string text(const char* name) const;
    /// False where it is missing.
    bool flag(const char* name) const;
    const nlohmann::json& list(const char* name) const;
    /// The field "action".
    Action action() const;

  private:
    [[noreturn]] void refuse(const std::string& reason) const {
        refuse_text(subject_, place_, reason);
    }

    const nlohmann::json& value_;
    std::string place_;
    const char* subject_;
};

}  // namespace trefoil
