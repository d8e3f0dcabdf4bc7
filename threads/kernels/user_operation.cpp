// SPDX-License-Identifier: BSD-3-Clause
// The user's operation keeps its result on the right, Trefoil on the left, where the lower ranks
// are.
#include "threads/kernels/user_operation.hpp"

#include <algorithm>
#include <cstring>

#include "threads/kernels/aligned_bytes.hpp"
#include "topo/per_thread.hpp"

namespace trefoil {

namespace {

/// A piece stays in the first-level cache between copy, function and copy.
constexpr std::size_t piece_bytes = 16 << 10;

/// `scratch` holds at least one element.
void apply_in_order(const UserOperation& operation, std::byte* target, const std::byte* source,
                    std::size_t count, std::byte* scratch, std::size_t scratch_elements) {
    const std::size_t element = operation.element_bytes;
    for (std::size_t done = 0; done < count; done += scratch_elements) {
        const std::size_t now = std::min(scratch_elements, count - done);
        std::byte* const left = target + done * element;
        std::memcpy(scratch, source + done * element, now * element);
        operation.function(left, scratch, now, operation.context);
        std::memcpy(left, scratch, now * element);
    }
}

}  // namespace

void UserOperation::apply(void* target, const void* source, std::size_t count) const {
    if (commutes) {
        function(source, target, count, context);
        return;
    }
    auto* const to = static_cast<std::byte*>(target);
    const auto* const from = static_cast<const std::byte*>(source);
    if (element_bytes <= piece_bytes) {
        alignas(AlignedBytes::alignment) std::byte scratch[piece_bytes];
        apply_in_order(*this, to, from, count, scratch, piece_bytes / element_bytes);
    } else {
        static PerThread<AlignedBytes> scratches;  // kept for the next call
        AlignedBytes& scratch = scratches.own();
        scratch.reserve(element_bytes);
        apply_in_order(*this, to, from, count, scratch.data(), 1);
    }
}

}  // namespace trefoil
