// SPDX-License-Identifier: BSD-3-Clause
// The language of TREFOIL_NICS: what a user asks for, before anything is known of the machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trefoil {

/// Entries separated by commas. A pattern is a name or an address of a NIC; `*` stands for any
/// text, `?` for one character, and case counts:
/// - `PATTERN`: for the ports that are not named otherwise, in turn;
/// - `+0=PATTERN`, `-1=PATTERN`: for one port;
/// - `^PATTERN`: never these, not even by default.
struct NicRequest {
    std::vector<std::string> in_turn;
    std::vector<std::string> by_port;  ///< per port index; empty where none is named
    std::vector<std::string> never;
};

/// Empty text: nothing is asked. Throws Error(invalid_argument) on an empty entry, on a port that
/// is named twice or that a torus with `ports` ports does not have.
NicRequest parse_nic_request(std::string_view text, int ports);

/// Does all of `text` match?
bool matches(std::string_view pattern, std::string_view text);
/// Does it stand for more than itself?
bool has_wildcard(std::string_view pattern);

}  // namespace trefoil
