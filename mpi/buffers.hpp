// SPDX-License-Identifier: BSD-3-Clause
// The users' buffers as plain bytes: as they are, or packed where their elements have gaps.
//
// MPI lets the ranks of a collective that moves data describe equal data by different datatypes, so
// one rank's may have gaps where another's has none. What they have in common is the number of
// bytes of data, and that is all that ranks decide by: whoever has gaps packs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "mpi/api.hpp"
#include "mpi/block_list.hpp"
#include "mpi/types.hpp"

namespace trefoil::mpi {

/// A code that the MPI below returned after calling the error handler itself.
struct MpiFailure {
    int code;
};

/// One rank's send or receive buffer, with elements of one datatype.
struct Side {
    std::byte* buffer = nullptr;
    MPI_Datatype type{};
    Layout layout;
    MPI_Comm comm{};

    std::size_t bytes(std::size_t count) const { return count * layout.size; }
    std::byte* at(std::ptrdiff_t elements) const { return buffer + elements * layout.extent; }
    /// `count` elements from the beginning are that many bytes of memory without gaps.
    bool flat(std::size_t count) const {
        return layout.contiguous() || (layout.dense && count <= 1);
    }
    /// Copies `count` elements from element `first` on to or from plain bytes. Throws MpiFailure.
    void pack(std::ptrdiff_t first, std::size_t count, std::byte* target) const;
    void unpack(std::ptrdiff_t first, std::size_t count, const std::byte* source) const;
};

/// Nothing if `count` is negative or `type` is no datatype. The buffer is not looked at.
std::optional<Side> side_of(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm);

/// Memory for packed data, allocated only if it is needed.
class Room {
  public:
    /// The same memory as before, where that suffices.
    std::byte* take(std::size_t bytes) {
        if (memory_ == nullptr || bytes > bytes_) {
            memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
            bytes_ = bytes;
        }
        return memory_.get();
    }
    /// The first `count` elements as plain bytes.
    const std::byte* packed(const Side& side, std::size_t count) {
        if (side.flat(count)) {
            return side.buffer;
        }
        std::byte* const memory = take(side.bytes(count));
        side.pack(0, count, memory);
        return memory;
    }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t bytes_ = 0;
};

/// Writes the blocks of `counts` elements at `displacements`, one per rank, into `list`, in bytes.
/// False: Trefoil cannot take them where they lie, and the list describes the same blocks side by
/// side.
bool list_blocks(BlockList& list, std::size_t ranks, const Side& side, const int* counts,
                 const int* displacements);
/// Copies all blocks from or to bytes that lie side by side. Throws MpiFailure.
void pack_blocks(const BlockList& list, const Side& side, const int* counts,
                 const int* displacements, std::byte* target);
void unpack_blocks(const BlockList& list, const Side& side, const int* counts,
                   const int* displacements, const std::byte* source);

}  // namespace trefoil::mpi
