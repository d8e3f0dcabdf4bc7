// SPDX-License-Identifier: BSD-3-Clause
// One collective call, as the executor is given it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "threads/executor/program.hpp"
#include "threads/kernels/reduce.hpp"

namespace trefoil {

/// A slice of the user's vectors: every block from `offset` on, as far as the program goes. Each
/// segment runs the whole schedule.
struct CallSegment {
    const Program* program = nullptr;
    std::size_t offset = 0;  ///< bytes, added to every place in the input and the output
};

class DirectCall;

/// The user's vectors: both may be the same, for a call in place.
struct CallVectors {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    DirectCall* direct = nullptr;  ///< of a persistent call whose messages may land in them
};

/// One collective call, lowered, for any vectors.
struct Call {
    std::span<const CallSegment> segments;
    ReduceKernels kernels;
    std::size_t element_bytes = 1;  ///< of what the kernels work on; for the timeline
    std::uint64_t signature = 0;    ///< equal on all ranks that make the same call
    const char* text = "";          ///< the call in words, for messages and the timeline
    const char* agreement = "";     ///< what the ranks must agree on, for messages
};

}  // namespace trefoil
