// SPDX-License-Identifier: BSD-3-Clause
// Where the memory lies that a running segment works on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "threads/executor/program.hpp"

namespace trefoil {

/// The first byte of every space that a Location may name. Set before the segment starts, but for
/// peers' vectors: these are placed when they are opened, and read in later steps of the same part.
/// So any worker may read what its operations name.
class SegmentBuffers {
  public:
    SegmentBuffers() = default;
    SegmentBuffers(const SegmentBuffers&) = delete;  // one of its spaces is a member
    SegmentBuffers& operator=(const SegmentBuffers&) = delete;

    /// Room for the landing slots of so many incoming channels, for a program's other spaces and
    /// for what it tells peers.
    void reserve(std::size_t in_channels, std::size_t spaces = 0, std::size_t told = 0) {
        bases_.resize(std::max({bases_.size(), Location::first_landing + in_channels, spaces}));
        own_.resize(std::max(own_.size(), told));
        place(Location::addresses, reinterpret_cast<std::byte*>(own_.data()));
    }
    void place(std::uint32_t space, std::byte* base) { bases_[space] = base; }
    void place_vectors(std::byte* input, std::byte* output) {
        place(Location::input, input);
        place(Location::output, output);
    }
    /// What peers are told: the input from each of these offsets on.
    void tell(const std::byte* input, const std::byte* output,
              const std::vector<std::size_t>& offsets) {
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            own_[i] = {reinterpret_cast<std::uintptr_t>(input) + offsets[i],
                       reinterpret_cast<std::uintptr_t>(output)};
        }
    }
    /// A peer's vectors, as it has told.
    void place_peer(std::uint32_t space, const VectorAddresses& told) {
        place(space, reinterpret_cast<std::byte*>(told.input));
        place(space + 1, reinterpret_cast<std::byte*>(told.output));
    }

    std::byte* base(std::uint32_t space) const { return bases_[space]; }
    std::byte* at(Location location) const { return bases_[location.space] + location.offset; }

  private:
    std::vector<std::byte*> bases_;
    std::vector<VectorAddresses> own_;
};

}  // namespace trefoil
