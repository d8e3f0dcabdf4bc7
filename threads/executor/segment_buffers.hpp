// SPDX-License-Identifier: BSD-3-Clause
// Where the memory lies that a running segment works on.
#pragma once

#include <cstddef>
#include <vector>

#include "threads/executor/program.hpp"

namespace trefoil {

/// The first byte of every space that a Location may name. Set before the segment starts and not
/// changed while it runs, so any worker may read it.
class SegmentBuffers {
  public:
    /// Room for the landing slots of so many incoming channels.
    void reserve(std::size_t in_channels) {
        bases_.resize(Location::first_landing + in_channels, nullptr);
    }
    void place(std::uint32_t space, std::byte* base) { bases_[space] = base; }

    std::byte* base(std::uint32_t space) const { return bases_[space]; }
    std::byte* at(Location location) const { return bases_[location.space] + location.offset; }
    bool in_place() const { return base(Location::input) == base(Location::output); }

  private:
    std::vector<std::byte*> bases_;
};

}  // namespace trefoil
