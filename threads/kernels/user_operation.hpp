// SPDX-License-Identifier: BSD-3-Clause
// An operation of the user's, in MPI's convention, as a kernel.
#pragma once

#include <cstddef>
#include <memory>

namespace trefoil {

/// The function does inout[i] = in[i] op inout[i] for `count` elements that do not overlap.
struct UserOperation {
    void (*function)(const void* in, void* inout, std::size_t count, void* context) = nullptr;
    void* context = nullptr;
    std::size_t element_bytes = 0;
    bool commutes = false;
    /// Calls in flight share it.
    std::shared_ptr<const void> in_use = {};

    /// target[i] = target[i] op source[i]. If it commutes the sides are swapped, and nothing is
    /// copied. Else the function gets a copy of the source to write to, piece by piece. Thread-safe
    /// if the function is.
    void apply(void* target, const void* source, std::size_t count) const;
};

}  // namespace trefoil
