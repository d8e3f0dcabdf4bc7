// SPDX-License-Identifier: BSD-3-Clause
// Landing memory of one port group, handed out in slices that can be given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "topo/cache_line.hpp"

namespace trefoil {

/// A slice of an arena. Plain data; whoever took it gives it back.
struct ArenaSlice {
    std::byte* data = nullptr;
    std::uint32_t chunk = 0;   ///< LandingArena::chunk() has its description and descriptor
    std::uint64_t offset = 0;  ///< in the chunk
    std::size_t bytes = 0;     ///< at least as many as were asked for
    bool untouched = false;    ///< nobody has had any of it before: it is as the group gave it
};

/// A port group cannot take memory back before it ends, so the arena takes few large chunks of it
/// and keeps them. Best fit: a slice comes from the smallest gap that holds it, and neighbouring
/// gaps become one. Slices of at most `small` bytes come from the end of the last gap instead, so
/// that they lie side by side and share pages. Chunks grow, each about as large as all before it,
/// so that there are few of them; what nobody has touched of a chunk costs address space alone
/// where the system gives pages on demand. Not thread-safe: by the group's owner.
///
/// No two slices share a cache line: peers put into some, and this processor writes what it will
/// put into others. On A64FX puts were seen to vanish from lines that the processor wrote
/// meanwhile.
class LandingArena {
  public:
    static constexpr std::size_t alignment = cache_line;
    static constexpr std::size_t aligned(std::size_t bytes) {
        return (bytes + alignment - 1) / alignment * alignment;
    }
    static constexpr std::size_t small = 1024;
    static constexpr std::size_t first_chunk = std::size_t{64} << 10;
    /// Chunks are not made larger than this unless one slice needs it.
    static constexpr std::size_t largest_chunk = std::size_t{64} << 20;

    /// PortGroup::allocate, or what does the same.
    using Allocate = std::function<LocalMemory(std::size_t bytes)>;
    explicit LandingArena(Allocate allocate) : allocate_(std::move(allocate)) {}

    /// `bytes` > 0. What is in it is what the last user left. Throws what the group throws, and
    /// then nothing has changed.
    ArenaSlice take(std::size_t bytes);
    /// Nobody may put there any more. As it was taken.
    void give_back(const ArenaSlice& slice);

    /// By ArenaSlice::chunk.
    const LocalMemory& chunk(std::uint32_t number) const { return chunks_[number]; }
    std::size_t chunks() const { return chunks_.size(); }
    std::size_t bytes_held() const { return held_; }
    std::size_t bytes_used() const { return used_; }

  private:
    using Gap = std::pair<std::uint32_t, std::uint64_t>;  // chunk, offset

    void grow(std::size_t bytes);
    ArenaSlice take_small(std::size_t bytes);
    ArenaSlice slice_at(Gap at, std::size_t bytes, bool at_end);
    void add_gap(Gap at, std::size_t bytes);
    void remove_gap(std::map<Gap, std::size_t>::iterator gap);

    Allocate allocate_;
    std::vector<LocalMemory> chunks_;
    /// Of each: what nobody has had yet, from here to there. Slices take it from both ends.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> untouched_;
    std::map<Gap, std::size_t> gaps_;                      ///< bytes by place
    std::set<std::pair<std::size_t, Gap>> gaps_by_bytes_;  ///< the same, by size
    std::size_t held_ = 0, used_ = 0;
};

}  // namespace trefoil
