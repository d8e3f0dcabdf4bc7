// SPDX-License-Identifier: BSD-3-Clause
// PMI-1 as text: lines of key=value words, and blobs as hexadecimal values of bounded length.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::pmi {

/// The words of a line, "cmd=maxes keylen_max=64"; words without '=' are left out.
using Words = std::map<std::string, std::string, std::less<>>;
Words parse_line(std::string_view line);

/// The value of `key` as a number of at least 1; nothing when it is none.
std::optional<std::size_t> number_in(const Words& words, std::string_view key);

/// A value may hold no blank and no line end, so bytes travel as hexadecimal digits.
std::string to_hex(std::string_view bytes);
/// Nothing when the text is not hexadecimal.
std::optional<std::string> from_hex(std::string_view text);

/// Values of at most `limit` characters (at least 32) that hold `blob`. The first one opens with
/// the number of values: "3:68616c..."
std::vector<std::string> to_values(std::string_view blob, std::size_t limit);
/// How many values the first one announces; nothing when it is not a first value.
std::optional<std::size_t> announced_values(std::string_view first);
/// What follows the number in a first value.
std::string_view digits_of(std::string_view first);

}  // namespace trefoil::pmi
