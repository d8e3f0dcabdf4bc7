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

}  // namespace

void take_down(Network& network, const std::vector<std::string>& links) {
    for (const std::string& text : links) {
        const std::int64_t link = find_link(network, text);
        if (link < 0) {
            throw Error(Status::invalid_argument,
                        fmt::format("\"{}\" is no link of the {} network; give a direction and a "
                                    "rank, such as +0@5",
                                    text, network.torus().name()));
        }
        network.set_rate(link, 0);
    }
}

}  // namespace trefoil::tool
