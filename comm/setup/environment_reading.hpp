// SPDX-License-Identifier: BSD-3-Clause
// How the value of an environment variable becomes a setting, or an error that says how to fix it.
// For environment.cpp and environment_table.cpp.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "topo/error.hpp"
#include "topo/variable.hpp"

namespace trefoil {

[[noreturn]] inline void refuse_value(const char* name, std::string_view value,
                                      const std::string& mend) {
    throw Error(Status::invalid_argument,
                std::string(name) + "=" + std::string(value) + " is not valid: " + mend);
}

inline void read_text(const char* name, std::string& target) {
    if (const auto value = environment_variable(name)) {
        target = *value;
    }
}

template <typename T>
bool read_number(const char* name, T& target, T least, T most, const char* mend) {
    const auto value = environment_variable(name);
    if (!value) {
        return false;
    }
    T number{};
    const char* end = value->data() + value->size();
    const auto [stop, error] = std::from_chars(value->data(), end, number);
    // So written, the comparison refuses "nan" too.
    if (error != std::errc() || stop != end || !(number >= least && number <= most)) {
        refuse_value(name, *value, mend);
    }
    target = number;
    return true;
}

/// Whether it is set.
inline bool read_seconds(const char* name, std::chrono::milliseconds& target) {
    double seconds = 0;
    const bool is_set =
        read_number(name, seconds, 0.001, 1e6, "give seconds, more than 0, e.g. 30 or 0.5");
    if (is_set) {
        target = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }
    return is_set;
}

}  // namespace trefoil
