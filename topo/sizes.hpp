// SPDX-License-Identifier: BSD-3-Clause
// Sizes as users write them, in variables and in options alike.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

namespace trefoil {

/// What parse_bytes() takes, for refusals: "give " and this.
inline constexpr std::string_view size_syntax =
    "a whole number, with K, M or G for powers of 1024, such as 8, 64K or 4M";

/// "8", "8B", "64K", "1Mi", "4MiB", "2g"; nothing for any other text, and for what is too large to
/// count in `most`. Header only, so that the MPI layer, which links the interface alone, has the
/// same one.
inline std::optional<std::size_t> parse_bytes(
    std::string_view text, std::size_t most = std::numeric_limits<std::size_t>::max() / 2) {
    constexpr std::array<std::array<std::string_view, 4>, 4> suffixes{{{"", "B", "", ""},
                                                                       {"K", "k", "Ki", "KiB"},
                                                                       {"M", "m", "Mi", "MiB"},
                                                                       {"G", "g", "Gi", "GiB"}}};
    std::size_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    for (std::size_t unit = 0; error == std::errc() && unit < suffixes.size(); ++unit) {
        for (const std::string_view known : suffixes[unit]) {
            if (suffix == known) {
                return value > most >> 10 * unit ? std::nullopt : std::optional(value << 10 * unit);
            }
        }
    }
    return std::nullopt;
}

/// Bytes, both ends included.
struct SizeRange {
    std::size_t least = 0;
    std::size_t most = std::numeric_limits<std::size_t>::max();
    bool contains(std::size_t bytes) const { return bytes >= least && bytes <= most; }
    bool meets(const SizeRange& other) const { return least <= other.most && other.least <= most; }
    bool is_reversed() const { return most < least; }
    friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

/// What parse_size_range() takes, for refusals: "give " and this.
inline constexpr std::string_view size_range_syntax = "least-most, e.g. 1Ki-4Mi, 1Ki- or -64";

/// "1Ki-4Mi", "1Ki-", "-64"; it may be reversed. Nothing for any other text.
inline std::optional<SizeRange> parse_size_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos || text.size() == 1) {
        return std::nullopt;
    }
    SizeRange range;
    if (dash > 0) {
        const auto least = parse_bytes(text.substr(0, dash));
        if (!least) {
            return std::nullopt;
        }
        range.least = *least;
    }
    if (dash + 1 < text.size()) {
        const auto most = parse_bytes(text.substr(dash + 1));
        if (!most) {
            return std::nullopt;
        }
        range.most = *most;
    }
    return range;
}

}  // namespace trefoil
