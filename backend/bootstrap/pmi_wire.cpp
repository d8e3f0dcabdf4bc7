// SPDX-License-Identifier: BSD-3-Clause
// The text form of PMI-1 messages and of blobs in them.
#include "backend/bootstrap/pmi_wire.hpp"

#include <algorithm>
#include <charconv>

namespace trefoil::pmi {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::optional<std::size_t> positive_number(std::string_view text) {
    std::size_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || stop != text.data() + text.size() || number == 0) {
        return std::nullopt;
    }
    return number;
}

}  // namespace

Words parse_line(std::string_view line) {
    Words words;
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find(' '));
        line.remove_prefix(std::min(line.size(), word.size() + 1));
        const std::size_t equals = word.find('=');
        if (equals != std::string_view::npos) {
            words.emplace(word.substr(0, equals), word.substr(equals + 1));
        }
    }
    return words;
}

std::optional<std::size_t> number_in(const Words& words, std::string_view key) {
    const auto found = words.find(key);
    return found == words.end() ? std::nullopt : positive_number(found->second);
}

std::string to_hex(std::string_view bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text.push_back(digits[byte >> 4]);
        text.push_back(digits[byte & 15]);
    }
    return text;
}

std::optional<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) {
        return std::nullopt;
    }
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const std::size_t high = digits.find(text[i]);
        const std::size_t low = digits.find(text[i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(high << 4 | low));
    }
    return bytes;
}

std::vector<std::string> to_values(std::string_view blob, std::size_t limit) {
    constexpr std::size_t room_for_number = 21;  // 20 digits and a colon
    const std::string text = to_hex(blob);
    const std::size_t first = std::min(text.size(), limit - room_for_number);
    const std::size_t others = (text.size() - first + limit - 1) / limit;
    std::vector<std::string> values{std::to_string(1 + others) + ":" + text.substr(0, first)};
    for (std::size_t at = first; at < text.size(); at += limit) {
        values.push_back(text.substr(at, limit));
    }
    return values;
}

std::optional<std::size_t> announced_values(std::string_view first) {
    const std::size_t colon = first.find(':');
    return colon == std::string_view::npos ? std::nullopt : positive_number(first.substr(0, colon));
}

std::string_view digits_of(std::string_view first) {
    return first.substr(first.find(':') + 1);
}

}  // namespace trefoil::pmi
