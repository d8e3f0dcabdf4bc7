// SPDX-License-Identifier: BSD-3-Clause
// Packing by the MPI below, which knows its datatypes. Its packed form is the plain bytes in the
// order of the signature (checked by plain_packing() when the layer starts).
#include "mpi/buffers.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <vector>

#include "mpi/layer.hpp"

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
    if (!is_mpich() || address != nullptr) {
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

/// MPI_Pack cannot count the bytes of an element that is so large.
bool is_beyond_packing(const Side& side) {
    return side.layout.size > INT_MAX;
}

/// But a message of this process to itself can: from one element of `from_type` to one of
/// `to_type`.
int send_to_oneself(const void* from, MPI_Datatype from_type, void* to, MPI_Datatype to_type) {
    static std::atomic<int> messages{0};
    const int tag = 1 + messages.fetch_add(1) % 10000;  // threads may do so at the same time
    return PMPI_Sendrecv(from, 1, from_type, 0, tag, to, 1, to_type, 0, tag, layer.alone,
                         MPI_STATUS_IGNORE);
}

/// Calls `work`(element, place of its packed bytes, their datatype) for each of `count` elements.
template <typename Work>
void one_by_one(const Side& side, std::size_t count, Work&& work) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (std::size_t at = 0; at < side.layout.size; at += INT_MAX) {
        places.push_back(static_cast<MPI_Aint>(at));
        lengths.push_back(static_cast<int>(std::min<std::size_t>(INT_MAX, side.layout.size - at)));
    }
    MPI_Datatype plain = MPI_DATATYPE_NULL;
    PMPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                              MPI_BYTE, &plain);
    PMPI_Type_commit(&plain);
    int code = MPI_SUCCESS;
    for (std::size_t i = 0; i < count && code == MPI_SUCCESS; ++i) {
        code = work(static_cast<std::ptrdiff_t>(i), side.bytes(i), plain);
    }
    PMPI_Type_free(&plain);
    if (code != MPI_SUCCESS) {
        throw MpiFailure{code};
    }
}

}  // namespace

void Side::pack(std::ptrdiff_t first, std::size_t count, std::byte* target) const {
    if (is_beyond_packing(*this)) {
        return one_by_one(*this, count,
                          [&](std::ptrdiff_t i, std::size_t place, MPI_Datatype plain) {
                              return send_to_oneself(at(first + i), type, target + place, plain);
                          });
    }
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
    if (is_beyond_packing(*this)) {
        return one_by_one(*this, count,
                          [&](std::ptrdiff_t i, std::size_t place, MPI_Datatype plain) {
                              return send_to_oneself(source + place, plain, at(first + i), type);
                          });
    }
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
    if (!is_mpich() || buffer != nullptr || count <= 0) {
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
