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

/// What MPICH reports as MPI_ERR_BUFFER: data at address 0, and no datatype that puts them
/// elsewhere.
bool names_no_memory(const void* buffer, MPI_Count count, MPI_Datatype type);

/// Nothing if `count` is negative, `type` is no datatype, or it names no memory.
std::optional<Side> side_of(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm);

inline bool overlap(const std::byte* a, std::size_t a_bytes, const std::byte* b,
                    std::size_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

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
template <typename Count, typename Displacement>
bool list_blocks(BlockList& list, std::size_t ranks, const Side& side, const Count* counts,
                 const Displacement* displacements) {
    list.counts.resize(ranks);
    list.displacements.resize(ranks);
    bool as_they_lie = true;
    std::size_t packed = 0;
    // Bytes, of the blocks so far: Trefoil wants them separate, and none before 0. An extent may be
    // negative, or less than the bytes of an element.
    std::ptrdiff_t end = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        const auto count = static_cast<std::size_t>(counts[r]);
        list.counts[r] = side.bytes(count);
        if (list.counts[r] > 0) {
            const std::ptrdiff_t begin = displacements[r] * side.layout.extent;
            as_they_lie = as_they_lie && side.flat(count) && begin >= end;
            end = begin + static_cast<std::ptrdiff_t>(list.counts[r]);
        }
    }
    for (std::size_t r = 0; r < ranks; ++r) {
        const bool empty = list.counts[r] == 0;
        list.displacements[r] =
            !as_they_lie ? packed
            : empty      ? 0
                         : static_cast<std::size_t>(displacements[r] * side.layout.extent);
        packed += list.counts[r];
    }
    return as_they_lie;
}

/// Some block names no memory, as MPICH sees it.
template <typename Count, typename Displacement>
bool list_names_no_memory(const Side& side, std::size_t ranks, const Count* counts,
                          const Displacement* displacements) {
    for (std::size_t r = 0; side.buffer == nullptr && r < ranks; ++r) {
        if (displacements[r] == 0 && names_no_memory(side.buffer, counts[r], side.type)) {
            return true;
        }
    }
    return false;
}

/// Copies all blocks from or to bytes that lie side by side. Throws MpiFailure.
template <typename Count, typename Displacement>
void pack_blocks(const BlockList& list, const Side& side, const Count* counts,
                 const Displacement* displacements, std::byte* target) {
    for (std::size_t r = 0; r < list.counts.size(); ++r) {
        side.pack(displacements[r], static_cast<std::size_t>(counts[r]),
                  target + list.displacements[r]);
    }
}
template <typename Count, typename Displacement>
void unpack_blocks(const BlockList& list, const Side& side, const Count* counts,
                   const Displacement* displacements, const std::byte* source) {
    for (std::size_t r = 0; r < list.counts.size(); ++r) {
        side.unpack(displacements[r], static_cast<std::size_t>(counts[r]),
                    source + list.displacements[r]);
    }
}

}  // namespace trefoil::mpi
