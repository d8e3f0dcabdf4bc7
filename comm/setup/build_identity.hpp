// SPDX-License-Identifier: BSD-3-Clause
// Which Trefoil this is: ranks that work together must run the same one.
#pragma once

#include <string>
#include <vector>

namespace trefoil {

/// Of the library's source files; 16 hexadecimal digits, alike on all machines and compilers.
extern const char* const source_hash;

/// "0.1.0 (sources 0123456789abcdef)". Set-up and notifications are made for ranks of one build
/// alone, so any change of the sources counts.
std::string build_identity();

/// Throws Error(mismatch) that names the ranks when the identities, by rank, differ.
void require_same_build(const std::vector<std::string>& identities);

}  // namespace trefoil
