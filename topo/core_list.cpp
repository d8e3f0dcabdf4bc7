// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes lists of cores.
#include "topo/core_list.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace trefoil {

namespace {

constexpr int most_cores = 1 << 16;

std::optional<int> parse_core(std::string_view text) {
    int core = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), core);
    if (error != std::errc() || stop != text.data() + text.size() || core < 0 ||
        core >= most_cores) {
        return std::nullopt;
    }
    return core;
}

}  // namespace

std::optional<std::vector<int>> parse_core_list(std::string_view text) {
    std::vector<int> cores;
    std::set<int> seen;
    for (bool more = true; more;) {
        const std::string_view entry = text.substr(0, text.find(','));
        more = entry.size() < text.size();
        text.remove_prefix(std::min(text.size(), entry.size() + 1));
        const std::size_t dash = entry.find('-');
        const auto first = parse_core(entry.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : parse_core(entry.substr(dash + 1));
        if (!first || !last || *last < *first) {
            return std::nullopt;
        }
        for (int core = *first; core <= *last; ++core) {
            if (!seen.insert(core).second) {
                return std::nullopt;
            }
            cores.push_back(core);
        }
    }
    return cores;
}

std::string core_list_text(const std::vector<int>& cores) {
    std::string text;
    for (std::size_t i = 0; i < cores.size();) {
        std::size_t end = i + 1;
        while (end < cores.size() && cores[end] == cores[end - 1] + 1) {
            ++end;
        }
        text += (text.empty() ? "" : ",") + std::to_string(cores[i]);
        if (end - i > 1) {
            text += "-" + std::to_string(cores[end - 1]);
        }
        i = end;
    }
    return text;
}

}  // namespace trefoil
