// SPDX-License-Identifier: BSD-3-Clause
// Parses TREFOIL_NICS and matches its patterns.
#include "comm/setup/nic_request.hpp"

#include "topo/error.hpp"
#include "topo/torus.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse_nics(std::string_view text, const std::string& mend) {
    throw Error(Status::invalid_argument,
                "TREFOIL_NICS=" + std::string(text) + " is not valid: " + mend);
}

/// The port that `name` names, or -1.
int port_named(std::string_view name, int ports) {
    for (int p = 0; p < ports; ++p) {
        if (to_string(Port{p}) == name) {
            return p;
        }
    }
    return -1;
}

void add_for_port(NicRequest& request, std::string_view text, std::string_view entry, int ports) {
    const std::size_t equals = entry.find('=');
    const std::string name(entry.substr(0, equals));
    const int port = port_named(name, ports);
    if (port < 0) {
        refuse_nics(text, "\"" + name +
                              "\" names no port of this torus; it has +0, -0 ... up to -" +
                              std::to_string(ports / 2 - 1));
    }
    if (!request.by_port[port].empty()) {
        refuse_nics(text, "port " + name + " is named twice");
    }
    request.by_port[port] = entry.substr(equals + 1);
    if (request.by_port[port].empty()) {
        refuse_nics(text, "port " + name + " is given no NIC; write " + name + "=NAME");
    }
}

}  // namespace

NicRequest parse_nic_request(std::string_view text, int ports) {
    NicRequest request;
    request.by_port.resize(ports);
    std::string_view rest = text;
    for (bool more = !text.empty(); more;) {
        const std::string_view entry = rest.substr(0, rest.find(','));
        more = entry.size() < rest.size();
        rest.remove_prefix(entry.size() + (more ? 1 : 0));
        if (entry.empty() || entry == "^") {
            refuse_nics(text, "an entry is empty; write names separated by single commas");
        }
        if (entry.front() == '^') {
            request.never.emplace_back(entry.substr(1));
        } else if (entry.find('=') != std::string_view::npos) {
            add_for_port(request, text, entry, ports);
        } else {
            request.in_turn.emplace_back(entry);
        }
    }
    return request;
}

bool matches(std::string_view pattern, std::string_view text) {
    // Walks both; a star first stands for nothing, then, as often as needed, for one character
    // more.
    std::size_t p = 0, t = 0, star = std::string_view::npos, covered = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            covered = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++covered;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool has_wildcard(std::string_view pattern) {
    return pattern.find_first_of("*?") != std::string_view::npos;
}

}  // namespace trefoil
