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

/// `work`(address, elements, datatype) of `elements` elements at `address`. MPICH refuses to pack
/// from or to MPI_BOTTOM, so its addresses are counted from elsewhere.
template <typename Work>
int from_somewhere(std::byte* address, int elements, MPI_Datatype type, Work&& work) {
    if (!is_mpich || address != nullptr) {
        return work(address, elements, type);
    }
    static std::byte elsewhere{};
    MPI_Aint distance = 0;
    PMPI_Get_address(&elsewhere, &distance);
    distance = -distance;
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    int code = PMPI_Type_create_hindexed(1, &elements, &distance, type, &moved);
    if (code == MPI_SUCCESS) {
        code = PMPI_Type_commit(&moved);
    }
    if (code == MPI_SUCCESS) {
        code = work(&elsewhere, 1, moved);
    }
    if (moved != MPI_DATATYPE_NULL) {
        PMPI_Type_free(&moved);
    }
    return code;
}

}  // namespace

void Side::pack(std::ptrdiff_t first, std::size_t count, std::byte* target) const {
    in_pieces(*this, count, [&](std::ptrdiff_t done, int elements, int room) {
        std::byte* const packed = target + bytes(static_cast<std::size_t>(done));
        const auto work = [&](const std::byte* from, int number, MPI_Datatype of) {
            int position = 0;
            return PMPI_Pack(from, number, of, packed, room, &position, comm);
        };
        return from_somewhere(at(first + done), elements, type, work);
    });
}

void Side::unpack(std::ptrdiff_t first, std::size_t count, const std::byte* source) const {
    in_pieces(*this, count, [&](std::ptrdiff_t done, int elements, int room) {
        const std::byte* const packed = source + bytes(static_cast<std::size_t>(done));
        const auto work = [&](std::byte* to, int number, MPI_Datatype of) {
            int position = 0;
            return PMPI_Unpack(packed, room, &position, to, number, of, comm);
        };
        return from_somewhere(at(first + done), elements, type, work);
    });
}

bool names_no_memory(const void* buffer, MPI_Count count, MPI_Datatype type) {
    if (!is_mpich || buffer != nullptr || count <= 0) {
        return false;
    }
    if (find_type(type) != nullptr) {
        return true;
    }
    MPI_Aint begin = 0, extent = 0;
    return type != MPI_DATATYPE_NULL &&
           PMPI_Type_get_true_extent(type, &begin, &extent) == MPI_SUCCESS && begin == 0 &&
           extent > 0;
}

std::optional<Side> side_of(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    if (count < 0) {
        return std::nullopt;
    }
    const auto layout = layout_of(type);
    if (!layout || names_no_memory(buffer, count, type)) {
        return std::nullopt;
    }
    return Side{static_cast<std::byte*>(const_cast<void*>(buffer)), type, *layout, comm};
}

}  // namespace trefoil::mpi
