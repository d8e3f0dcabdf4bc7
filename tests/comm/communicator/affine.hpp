// SPDX-License-Identifier: BSD-3-Clause
// An operation of the user's that does not commute: the composition of x -> a x + b.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trefoil::test {

struct Affine {
    std::uint32_t a, b;
    friend bool operator==(const Affine&, const Affine&) = default;
};

inline Affine composed(Affine l, Affine r) {
    return {l.a * r.a, l.a * r.b + l.b};
}

/// For trefoil_op_create().
inline void compose(const void* in, void* inout, std::size_t count, void*) {
    for (std::size_t i = 0; i < count; ++i) {
        Affine& right = static_cast<Affine*>(inout)[i];
        right = composed(static_cast<const Affine*>(in)[i], right);
    }
}

}  // namespace trefoil::test
