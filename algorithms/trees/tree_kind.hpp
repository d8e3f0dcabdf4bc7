// SPDX-License-Identifier: BSD-3-Clause
// Which broadcast tree a ring has.
#pragma once

#include <compare>
#include <cstdint>

namespace trefoil {

/// Its pattern, whether its distances grow or shrink from step to step, and how an odd ring is cut
/// into groups for Bine.
struct TreeKind {
    enum class Pattern : std::uint8_t {
        bine,     ///< c + rho(k) from even c, c - rho(k) from odd c; rho = 1, -1, 3, -5, 11, ...
        binomial  ///< c + 2^k
    };
    enum class Distance : std::uint8_t { doubling, halving };
    enum class Cut : std::uint8_t {
        even,           ///< as FoldedRing, by a formula
        whole_vectors,  ///< so that halves of a vector in a tree and in its mirror load links least
        own_blocks      ///< the same where everybody gets a block of its own
    };
    Pattern pattern = Pattern::bine;
    Distance distance = Distance::doubling;
    Cut cut = Cut::even;
    friend auto operator<=>(const TreeKind&, const TreeKind&) = default;
};

}  // namespace trefoil
