// SPDX-License-Identifier: BSD-3-Clause
// A direction, an at sign and a rank.
#include "bench/sim/links.hpp"

#include <fmt/format.h>

#include <charconv>

#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// The link, or -1.
std::int64_t find_link(const Network& network, std::string_view text) {
    const std::size_t at = text.find('@');
    if (at == std::string_view::npos) {
        return -1;
    }
    const char* const end = text.data() + text.size();
    Rank rank = -1;
    const auto read = std::from_chars(text.data() + at + 1, end, rank);
    if (read.ec != std::errc() || read.ptr != end || rank < 0 || rank >= network.torus().ranks()) {
        return -1;
    }
    for (int p = 0; p < network.torus().ports(); ++p) {
        if (to_string(Port{p}) == text.substr(0, at)) {
            return network.link(rank, Port{p}).value_or(-1);
        }
    }
    return -1;
}

std::int64_t require_link(const Network& network, const std::string& text) {
    const std::int64_t link = find_link(network, text);
    if (link < 0) {
        throw Error(
            Status::invalid_argument,
            fmt::format("\"{}\" is not a link of the {} network; give a direction and a rank, "
                        "such as +0@5",
                        text, network.torus().name()));
    }
    return link;
}

}  // namespace

void take_down(Network& network, const std::vector<std::string>& links) {
    for (const std::string& text : links) {
        network.change_rate(require_link(network, text), 0);
    }
}

void slow_down(Network& network, const std::vector<std::pair<std::string, double>>& links) {
    for (const auto& [text, share] : links) {
        const std::int64_t link = require_link(network, text);
        network.change_rate(link, network.rate(link) * share);
    }
}

std::pair<std::string, double> parse_slow_link(const std::string& text) {
    const std::size_t equals = text.find('=');
    double share = 0;
    if (equals != std::string::npos) {
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data() + equals + 1, end, share);
        share = read.ec == std::errc() && read.ptr == end ? share : 0;
    }
    if (!(share > 0 && share <= 1)) {
        throw Error(Status::invalid_argument,
                    fmt::format("\"{}\" is not a slow link; give a link and the share of its rate, "
                                "above 0 and up to 1, such as +0@5=0.5",
                                text));
    }
    return {text.substr(0, equals), share};
}

}  // namespace trefoil::tool
