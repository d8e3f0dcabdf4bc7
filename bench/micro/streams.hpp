// SPDX-License-Identifier: BSD-3-Clause
// The bound of the reduction kernels: loops with a kernel's reads and writes and the cheapest
// operation there is (xor), by the widest instructions of this processor and by narrower ones.
#pragma once

#include <cstddef>
#include <span>

namespace trefoil::micro {

/// Three streams: target is read and written, source is read. `bytes` is a multiple of 256, and
/// both begin at multiples of 64.
using Three = void (*)(void* target, const void* source, std::size_t bytes);
/// Four streams: target is read and written, both sources are read.
using Four = void (*)(void* target, const void* first, const void* second, std::size_t bytes);

struct Streams {
    const char* name;
    Three three;
    Four four;
};

/// Those that this processor has. The bound is the fastest of them.
std::span<const Streams> streams();

}  // namespace trefoil::micro
