// SPDX-License-Identifier: BSD-3-Clause
// What stands between a rank's vectors and the peers that read them: whether they may, and whether
// anybody is reading.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "topo/cache_line.hpp"

namespace trefoil {

/// Each port group has `read_guards` of them, in memory that its owner and all its peers see; all
/// zeros is closed. Communicators that read at a time have one each, at the same place on all their
/// ranks. Two kinds of late readers are kept from harm:
///
///  - One that reads by copies of the kernel cannot fault. It looks at the owner's `call` after the
///    bytes: if that is still the call that both are in, the owner had not returned before the
///    bytes were read. Else it throws away what it has read.
///  - One that reads by addresses could touch memory that the owner has freed. It raises its own
///    `readers`, then looks at the owner's `call`, and reads only then. An owner that gives up
///    first withdraws its `call` and then waits until nobody's `readers` is raised. All four
///    accesses are sequentially consistent, so at least one of the two sees the other.
///
/// An owner that completes its call need not withdraw anything: it has heard from every reader.
struct ReadGuard {
    static constexpr std::size_t apart = cache_lines_apart;

    /// The owner's running call, whose vectors peers may read; 0: none. Written by the owner.
    alignas(apart) std::atomic<std::uint64_t> call;
    /// How many of the owner's threads read peers' vectors by addresses. Written by the owner.
    alignas(apart) std::atomic<std::uint32_t> readers;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
inline constexpr int read_guards = 64;

}  // namespace trefoil
