// SPDX-License-Identifier: BSD-3-Clause
// The user's operation keeps its result on the right.
#include "threads/kernels/user_operation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "threads/kernels/aligned_bytes.hpp"
#include "topo/per_thread.hpp"

namespace trefoil {

namespace {

/// A piece stays in the first-level cache between copy, function and copy.
constexpr std::size_t piece_bytes = 16 << 10;

/// `scratch` holds at least one element.
void apply_in_order(const UserOperation& operation, std::byte* target, const std::byte* second,
                    std::size_t count, std::byte* scratch, std::size_t scratch_elements) {
    const std::size_t element = operation.element_bytes;
    for (std::size_t done = 0; done < count; done += scratch_elements) {
        const std::size_t now = std::min(scratch_elements, count - done);
        std::byte* const first = target + done * element;
        std::memcpy(scratch, second + done * element, now * element);
        operation.function(first, scratch, now, operation.context);
        std::memcpy(first, scratch, now * element);
    }
}

/// In place of the first.
void apply_to_first(const UserOperation& operation, std::byte* target, const std::byte* second,
                    std::size_t count) {
    const std::size_t element = operation.element_bytes;
    if (element <= piece_bytes) {
        alignas(AlignedBytes::alignment) std::byte scratch[piece_bytes];
        apply_in_order(operation, target, second, count, scratch, piece_bytes / element);
        return;
    }
    static PerThread<AlignedBytes> scratches;  // kept for the next call
    AlignedBytes& scratch = scratches.own();
    scratch.reserve(element);
    apply_in_order(operation, target, second, count, scratch.data(), 1);
}

}  // namespace

void UserOperation::apply(void* target, const void* first, const void* second,
                          std::size_t count) const {
    auto* const to = static_cast<std::byte*>(target);
    const auto* in = static_cast<const std::byte*>(first);
    const auto* inout = static_cast<const std::byte*>(second);
    if (commutes && to != inout) {
        std::swap(in, inout);
    }
    if (to == inout) {
        function(in, to, count, context);
    } else if (to == in) {
        apply_to_first(*this, to, inout, count);
    } else {
        const std::size_t most = std::max<std::size_t>(1, piece_bytes / element_bytes);
        for (std::size_t done = 0; done < count; done += most) {
            const std::size_t now = std::min(most, count - done);
            const std::size_t at = done * element_bytes;
            std::memcpy(to + at, inout + at, now * element_bytes);
            function(in + at, to + at, now, context);
        }
    }
}

}  // namespace trefoil
