// SPDX-License-Identifier: BSD-3-Clause
// Reads the relay's links, and whom a frame is for.
#include "bench/relay/links.hpp"

#include <net/if.h>

#include <sstream>

#include "topo/error.hpp"

namespace trefoil::relay {

namespace {

NodeAddress parse_node(const std::string& text) {
    NodeAddress node{};
    std::istringstream words(text);
    for (std::uint8_t& byte : node) {
        unsigned value = 0;
        if (!(words >> value) || value > 255) {
            throw Error(Status::invalid_argument, "\"" + text + "\" is not a node; give 10.77.0");
        }
        byte = static_cast<std::uint8_t>(value);
        words.get();
    }
    return node;
}

int index_of(const std::string& interface) {
    const unsigned index = if_nametoindex(interface.c_str());
    if (index == 0) {
        throw Error(Status::not_found, "there is no interface \"" + interface + "\" here");
    }
    return static_cast<int>(index);
}

}  // namespace

Ways read_links(std::istream& input, double bits_per_second, Time delay) {
    Ways ways;
    std::string line;
    while (std::getline(input, line)) {
        std::istringstream words(line);
        std::string one, one_node, other, other_node, more;
        if (!(words >> one >> one_node >> other >> other_node) || words >> more) {
            throw Error(Status::invalid_argument,
                        "\"" + line + "\" is not a link; give r0p0 10.77.0 r1m0 10.77.1");
        }
        const Wire wire(bits_per_second, delay);
        ways.insert({index_of(one), {index_of(other), parse_node(other_node), wire}});
        ways.insert({index_of(other), {index_of(one), parse_node(one_node), wire}});
    }
    if (ways.empty()) {
        throw Error(Status::invalid_argument, "no link was given; give one per line");
    }
    return ways;
}

bool ends_at(std::span<const std::byte> frame, const NodeAddress& node) {
    constexpr std::size_t type = 12, target = 30, shortest = 34;  // Ethernet, then IPv4
    if (frame.size() < shortest || frame[type] != std::byte{8} || frame[type + 1] != std::byte{0}) {
        return true;
    }
    for (std::size_t i = 0; i < node.size(); ++i) {
        if (frame[target + i] != std::byte{node[i]}) {
            return false;
        }
    }
    return true;
}

}  // namespace trefoil::relay
