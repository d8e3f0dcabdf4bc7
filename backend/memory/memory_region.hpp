// SPDX-License-Identifier: BSD-3-Clause
// Memory that threads of this process and processes of this host can share: made, described,
// and found again from its description.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backend/memory/memory_arena.hpp"

namespace trefoil::memory {

/// What a region is used for; a description of one kind is refused where the other is needed.
enum class Use : std::uint32_t { payload = 1, queue = 2 };

/// A piece of anonymous shared memory. It has no name in any file system, so nothing is left behind
/// when a process dies. It stays as it is as long as any process holds it, even when its maker has
/// gone; the last holder gives the memory back. What a process that was killed has held goes back
/// when the maker's last region ends. No region has a descriptor of its own (memory_arena.hpp).
class Region {
  public:
    /// Zeroed and page-aligned. Throws Error(out_of_memory), Error(system_error).
    static std::shared_ptr<Region> make(Use use, std::size_t bytes);

    /// The region behind description(): the same object if this process has it already, otherwise
    /// mapped from its maker. Throws Error(invalid_argument) for bytes that describe no region of
    /// this use, Error(unsupported) for one that cannot be reached from here, Error(peer_lost) if
    /// it is gone.
    static std::shared_ptr<Region> open(Use use, std::string_view description);

    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

    std::byte* data() const;
    std::size_t bytes() const { return bytes_; }
    /// Random, one per region, even: equal for all who opened the same one.
    std::uint64_t token() const { return token_; }
    /// The process that made it.
    pid_t maker() const { return maker_; }
    static constexpr std::size_t description_bytes = 144;
    std::string description() const;
    /// Where the maker's process has it: an address there.
    std::uint64_t home() const { return home_; }
    /// Proof that it is there: what the maker's process has at home().
    std::uint64_t first_word() const;

  private:
    Region(Use use, std::uint64_t token, std::size_t bytes, pid_t maker);

    Use use_;
    pid_t maker_;
    pid_t holder_;  ///< the process that this object was made in
    std::uint64_t token_;
    std::size_t bytes_;
    std::byte* mapping_ = nullptr;
    std::uint64_t home_ = 0;
    Arena::Place place_;  ///< of the maker alone
};

}  // namespace trefoil::memory
