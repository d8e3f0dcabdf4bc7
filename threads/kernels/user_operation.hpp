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

    /// target[i] = first[i] op second[i]; the target may be either of the two, and overlaps neither
    /// otherwise. What the function is to write to gets one of the two first, unless it is there:
    /// the second, or, if the operation commutes, the first. Thread-safe if the function is.
    void apply(void* target, const void* first, const void* second, std::size_t count) const;
};

}  // namespace trefoil
