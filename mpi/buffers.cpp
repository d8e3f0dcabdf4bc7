// SPDX-License-Identifier: BSD-3-Clause
// Packing by the MPI below, which knows its datatypes. Its packed form is the plain bytes in the
// order of the signature (checked by plain_packing() when the layer starts).
#include "mpi/buffers.hpp"

#include <algorithm>
#include <climits>

namespace trefoil::mpi {

namespace {

/// Calls `work`(elements done, elements, bytes) for pieces that MPI's int can count.
template <typename Work>
void in_pieces(const Side& side, std::size_t count, Work&& work) {
    const std::size_t most =
        side.layout.size == 0 ? INT_MAX : std::max<std::size_t>(1, INT_MAX / side.layout.size);
    for (std::size_t done = 0; done < count;) {
        const std::size_t now = std::min(count - done, most);
        const int code = work(static_cast<std::ptrdiff_t>(done), static_cast<int>(now),
                              static_cast<int>(std::min<std::size_t>(INT_MAX, side.bytes(now))));
        if (code != MPI_SUCCESS) {
            throw MpiFailure{code};
        }
        done += now;
    }
}

}  // namespace

void Side::pack(std::ptrdiff_t first, std::size_t count, std::byte* target) const {
    in_pieces(*this, count, [&](std::ptrdiff_t done, int elements, int room) {
        int position = 0;
        return PMPI_Pack(at(first + done), elements, type,
                         target + bytes(static_cast<std::size_t>(done)), room, &position, comm);
    });
}

void Side::unpack(std::ptrdiff_t first, std::size_t count, const std::byte* source) const {
    in_pieces(*this, count, [&](std::ptrdiff_t done, int elements, int room) {
        int position = 0;
        return PMPI_Unpack(source + bytes(static_cast<std::size_t>(done)), room, &position,
                           at(first + done), elements, type, comm);
    });
}

std::optional<Side> side_of(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    if (count < 0) {
        return std::nullopt;
    }
    const auto layout = layout_of(type);
    if (!layout) {
        return std::nullopt;
    }
    return Side{static_cast<std::byte*>(const_cast<void*>(buffer)), type, *layout, comm};
}

}  // namespace trefoil::mpi
