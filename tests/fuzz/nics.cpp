// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes requests for NICs, and what their patterns match.
#include <string>

#include "comm/setup/nic_request.hpp"
#include "tests/fuzz/target.hpp"

FUZZ_TARGET(nics) {
    using namespace trefoil;
    fuzz::Input input(data, size);
    const int ports = 2 * (input.byte() % 8);
    const std::string name(input.text(input.byte() % 16));
    fuzz::refuses([&] {
        const NicRequest request = parse_nic_request(input.rest(), ports);
        for (const auto* const list : {&request.in_turn, &request.by_port, &request.never}) {
            for (const std::string& pattern : *list) {
                const bool matched = matches(pattern, name);
                fuzz::require(has_wildcard(pattern) || matched == (pattern == name),
                              "a plain name matches another");
                fuzz::require(has_wildcard(pattern) || matches(pattern, pattern),
                              "a plain name does not match itself");
            }
        }
        fuzz::require(static_cast<int>(request.by_port.size()) <= ports, "too many ports");
    });
    return 0;
}
