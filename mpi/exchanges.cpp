// SPDX-License-Identifier: BSD-3-Clause
// Alltoall and alltoallv. Of alltoall every rank knows the bytes that each sends each other; of
// alltoallv nobody knows all, so ranks decide without them.
#include <algorithm>

#include "mpi/buffers.hpp"
#include "mpi/dispatch.hpp"
#include "mpi/entry.hpp"

using namespace trefoil::mpi;

namespace {

constexpr Verdict wrong_exchange{Reason::arguments};

/// What MPICH reports as MPI_ERR_BUFFER. Other calls with one buffer for both sides go on in either
/// MPI, so they must here.
template <typename Counts>
bool reports_aliased(const void* send, const void* recv, Counts send_counts, Counts recv_counts,
                     MPI_Datatype send_type, MPI_Datatype recv_type) {
    return is_mpich && send == recv && send_counts == recv_counts && send_type == recv_type;
}

/// Both buffers of an alltoall, with a block for each rank; no send side: in place.
struct Exchange {
    std::optional<Side> send, recv;
    std::size_t send_count = 0, recv_count = 0;  ///< elements, of all blocks

    std::size_t bytes() const { return recv->bytes(recv_count); }
};

trefoil_status_t alltoall(ShadowCommunicator& c, const Exchange& call) {
    trefoil_comm_t t = c.prepare(false);
    if (t == nullptr) {
        return c.failure();
    }
    Room send_room, recv_room;
    const bool flat = call.recv->flat(call.recv_count);
    std::byte* const target = flat ? call.recv->buffer : recv_room.take(call.bytes());
    const void* source = TREFOIL_IN_PLACE;
    if (call.send) {
        source = send_room.packed(*call.send, call.send_count);
        source = source == target ? TREFOIL_IN_PLACE : source;
    } else if (!flat) {
        call.recv->pack(0, call.recv_count, target);
    }
    const trefoil_status_t status =
        trefoil_alltoall(source, target, call.bytes() / c.ranks(), TREFOIL_UINT8, t);
    if (status == TREFOIL_SUCCESS && !flat) {
        call.recv->unpack(0, call.recv_count, target);
    }
    return status;
}

/// One side of an alltoallv.
struct Listed {
    std::optional<Side> side;
    const int* counts = nullptr;
    const int* displacements = nullptr;

    bool good(const ShadowCommunicator& c) const {
        return side && counts != nullptr && displacements != nullptr &&
               std::all_of(counts, counts + c.ranks(), [](int count) { return count >= 0; });
    }
};

/// The blocks at the same distances in `room`.
const std::byte* copy_of_blocks(const ShadowCommunicator& c, const std::byte* blocks, Room& room) {
    std::size_t end = 0;
    for (std::size_t r = 0; r < c.ranks(); ++r) {
        end = std::max(end, c.displacements[r] + c.counts[r]);
    }
    std::byte* const copy = room.take(end);
    for (std::size_t r = 0; r < c.ranks(); ++r) {
        std::copy_n(blocks + c.displacements[r], c.counts[r], copy + c.displacements[r]);
    }
    return copy;
}

trefoil_status_t alltoallv(ShadowCommunicator& c, const Listed& send, const Listed& recv) {
    trefoil_comm_t t = c.prepare(false);
    if (t == nullptr) {
        return c.failure();
    }
    Room send_room, recv_room;
    const std::byte* source = nullptr;
    std::vector<std::size_t> send_counts, send_displacements;
    if (send.side) {
        source = send.side->buffer;
        if (!list_blocks(c, *send.side, send.counts, send.displacements)) {
            std::byte* const packed = send_room.take(c.displacements.back() + c.counts.back());
            pack_blocks(c, *send.side, send.counts, send.displacements, packed);
            source = packed;
        } else if (source == recv.side->buffer) {
            source = copy_of_blocks(c, source, send_room);
        }
        send_counts = c.counts;
        send_displacements = c.displacements;
    }
    const bool direct = list_blocks(c, *recv.side, recv.counts, recv.displacements);
    std::byte* target = recv.side->buffer;
    if (!direct) {
        target = recv_room.take(c.displacements.back() + c.counts.back());
        if (!send.side) {
            pack_blocks(c, *recv.side, recv.counts, recv.displacements, target);
        }
    }
    const trefoil_status_t status =
        send.side ? trefoil_alltoallv(source, send_counts.data(), send_displacements.data(), target,
                                      c.counts.data(), c.displacements.data(), TREFOIL_UINT8, t)
                  : trefoil_alltoallv(TREFOIL_IN_PLACE, nullptr, nullptr, target, c.counts.data(),
                                      c.displacements.data(), TREFOIL_UINT8, t);
    if (status == TREFOIL_SUCCESS && !direct) {
        unpack_blocks(c, *recv.side, recv.counts, recv.displacements, target);
    }
    return status;
}

}  // namespace

template <typename Below>
int call_alltoall(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                  int recv_count, MPI_Datatype recv_type, MPI_Comm comm, const Below& below) {
    Exchange call;
    return dispatch(
        Kind::alltoall, comm,
        [&](const ShadowCommunicator& c) {
            call.recv = side_of(recv, recv_count, recv_type, comm);
            if (!call.recv || recv == MPI_IN_PLACE) {
                return wrong_exchange;
            }
            call.recv_count = static_cast<std::size_t>(recv_count) * c.ranks();
            if (send != MPI_IN_PLACE) {
                call.send = side_of(send, send_count, send_type, comm);
                call.send_count = static_cast<std::size_t>(std::max(0, send_count)) * c.ranks();
                if (!call.send || call.send->bytes(call.send_count) != call.bytes() ||
                    reports_aliased(send, recv, send_count, recv_count, send_type, recv_type)) {
                    return wrong_exchange;
                }
            }
            return Verdict{Reason::none, call.bytes()};
        },
        [&](ShadowCommunicator& c) { return alltoall(c, call); }, below);
}
TREFOIL_MPI_ENTRY(Alltoall, alltoall,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, comm))

template <typename Below>
int call_alltoallv(const void* send, const int* send_counts, const int* send_displacements,
                   MPI_Datatype send_type, void* recv, const int* recv_counts,
                   const int* recv_displacements, MPI_Datatype recv_type, MPI_Comm comm,
                   const Below& below) {
    Listed from, to;
    return dispatch(
        Kind::alltoallv, comm,
        [&](const ShadowCommunicator& c) {
            to = {side_of(recv, 0, recv_type, comm), recv_counts, recv_displacements};
            if (!to.good(c) || recv == MPI_IN_PLACE) {
                return wrong_exchange;
            }
            if (send != MPI_IN_PLACE) {
                from = {side_of(send, 0, send_type, comm), send_counts, send_displacements};
                if (!from.good(c) ||
                    reports_aliased(send, recv, send_counts, recv_counts, send_type, recv_type)) {
                    return wrong_exchange;
                }
            }
            return Verdict{};
        },
        [&](ShadowCommunicator& c) { return alltoallv(c, from, to); }, below);
}
TREFOIL_MPI_ENTRY(Alltoallv, alltoallv,
                  (const void* send, const int* send_counts, const int* send_displacements,
                   MPI_Datatype send_type, void* recv, const int* recv_counts,
                   const int* recv_displacements, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_counts, send_displacements, send_type, recv, recv_counts,
                   recv_displacements, recv_type, comm))
