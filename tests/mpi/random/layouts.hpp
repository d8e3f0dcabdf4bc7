// SPDX-License-Identifier: BSD-3-Clause
// Random datatypes of one signature, and buffers around what they describe.
#pragma once

#include "draw.hpp"

namespace trefoil::mpi::test {

/// A committed datatype of `elements` of `basic`, which lie apart, in any order; so do several of
/// its elements one after the other. `backwards`: its extent may be negative.
MPI_Datatype draw_layout(Draw& draw, MPI_Datatype basic, int elements, bool backwards);

/// Memory for blocks of elements of one datatype, and some around it.
struct Buffer {
    std::vector<std::byte> memory;
    std::byte* base = nullptr;  ///< MPI's address of it

    /// Room for `count` elements from the `first` on.
    struct Block {
        std::ptrdiff_t first = 0;
        int count = 0;
    };
    void make(MPI_Datatype type, const std::vector<Block>& blocks, std::uint64_t seed);
    /// Of `bytes` from the base on.
    void make_plain(std::size_t bytes, std::uint64_t seed);

  private:
    void make(std::ptrdiff_t low, std::ptrdiff_t high, std::uint64_t seed);
};

}  // namespace trefoil::mpi::test
