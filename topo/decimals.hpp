// SPDX-License-Identifier: BSD-3-Clause
// Numbers with a decimal point as text, whatever the program's locale: ranks compare such texts,
// and tools read them.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace trefoil {

inline std::string decimal(double value, std::chars_format format, int digits) {
    std::array<char, 400> text;  // a double has at most 309 digits before its point
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, format, digits);
    return {text.data(), error == std::errc() ? end : text.data()};
}

/// "1.50": so many digits behind the point.
inline std::string fixed_decimal(double value, int digits) {
    return decimal(value, std::chars_format::fixed, digits);
}

/// "1.5", "1e-07": so many digits that count, without zeros at the end.
inline std::string short_decimal(double value, int digits) {
    return decimal(value, std::chars_format::general, digits);
}

}  // namespace trefoil
