// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move blocks of different sizes. Of gatherv and scatterv only the root knows
// all sizes, so ranks decide without them.
#include <algorithm>
#include <numeric>

#include "mpi/buffers.hpp"
#include "mpi/dispatch.hpp"
#include "mpi/entry.hpp"

using namespace trefoil::mpi;

namespace {

constexpr Verdict wrong{Reason::arguments};

/// The blocks of all ranks in one buffer.
struct Blocks {
    std::optional<Side> side;
    const int* counts = nullptr;
    const int* displacements = nullptr;

    std::size_t elements(int rank) const { return static_cast<std::size_t>(counts[rank]); }
};

/// False: what the list says is wrong.
bool read(Blocks& blocks, const ShadowCommunicator& c, const void* buffer, const int* counts,
          const int* displacements, MPI_Datatype type) {
    blocks = {side_of(buffer, 0, type, c.comm()), counts, displacements};
    return blocks.side && buffer != MPI_IN_PLACE && counts != nullptr && displacements != nullptr &&
           std::all_of(counts, counts + c.ranks(), [](int count) { return count >= 0; });
}

/// Blocks that Trefoil gathers where they lie, or into `room`, with this rank's among them.
class Target {
  public:
    Target(ShadowCommunicator& c, const Blocks& blocks, bool in_place)
        : c_(c),
          blocks_(blocks),
          direct_(list_blocks(c, *blocks.side, blocks.counts, blocks.displacements)) {
        if (!direct_) {
            data_ = room_.take(c.displacements.back() + c.counts.back());
            if (in_place) {
                const int r = c.rank();
                blocks.side->pack(blocks.displacements[r], blocks.elements(r), own());
            }
        }
    }
    std::byte* data() const { return direct_ ? blocks_.side->buffer : data_; }
    std::byte* own() const {
        return data() + c_.displacements[static_cast<std::size_t>(c_.rank())];
    }
    void finish() const {
        if (!direct_) {
            unpack_blocks(c_, *blocks_.side, blocks_.counts, blocks_.displacements, data_);
        }
    }

  private:
    ShadowCommunicator& c_;
    const Blocks& blocks_;
    Room room_;
    bool direct_;
    std::byte* data_ = nullptr;
};

/// This rank's block as plain bytes: in place is told by null.
const void* source_of(const std::optional<Side>& one, int count, Room& room, const Target& target) {
    if (!one) {
        return TREFOIL_IN_PLACE;
    }
    const void* const source = room.packed(*one, static_cast<std::size_t>(count));
    return source == target.own() ? TREFOIL_IN_PLACE : source;
}

trefoil_status_t allgatherv(ShadowCommunicator& c, const Blocks& blocks,
                            const std::optional<Side>& one, int count) {
    trefoil_comm_t t = c.prepare(false);
    if (t == nullptr) {
        return c.failure();
    }
    const Target target(c, blocks, !one);
    Room room;
    const void* const source = source_of(one, count, room, target);
    const trefoil_status_t status =
        trefoil_allgatherv(source, c.counts[static_cast<std::size_t>(c.rank())], target.data(),
                           c.counts.data(), c.displacements.data(), TREFOIL_UINT8, t);
    if (status == TREFOIL_SUCCESS) {
        target.finish();
    }
    return status;
}

trefoil_status_t gatherv_at_root(ShadowCommunicator& c, trefoil_comm_t t, const Blocks& blocks,
                                 const std::optional<Side>& one, int count) {
    const Target target(c, blocks, !one);
    Room room;
    const void* const source = source_of(one, count, room, target);
    const std::size_t own = one ? one->bytes(static_cast<std::size_t>(count)) : 0;
    const trefoil_status_t status =
        trefoil_gatherv(source, own, target.data(), c.counts.data(), c.displacements.data(),
                        TREFOIL_UINT8, c.rank(), t);
    if (status == TREFOIL_SUCCESS) {
        target.finish();
    }
    return status;
}

trefoil_status_t scatterv_at_root(ShadowCommunicator& c, trefoil_comm_t t, const Blocks& blocks,
                                  void* target, std::size_t bytes) {
    Room room;
    const std::byte* data = blocks.side->buffer;
    if (!list_blocks(c, *blocks.side, blocks.counts, blocks.displacements)) {
        std::byte* const packed = room.take(c.displacements.back() + c.counts.back());
        pack_blocks(c, *blocks.side, blocks.counts, blocks.displacements, packed);
        data = packed;
    }
    return trefoil_scatterv(data, c.counts.data(), c.displacements.data(), target, bytes,
                            TREFOIL_UINT8, c.rank(), t);
}

}  // namespace

template <typename Below>
int call_allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                    const int counts[], const int displacements[], MPI_Datatype recv_type,
                    MPI_Comm comm, const Below& below) {
    Blocks blocks;
    std::optional<Side> one;
    return dispatch(
        Kind::allgatherv, comm,
        [&](const ShadowCommunicator& c) {
            if (!read(blocks, c, recv, counts, displacements, recv_type)) {
                return wrong;
            }
            if (send != MPI_IN_PLACE) {
                one = side_of(send, send_count, send_type, comm);
                if (!one || one->bytes(static_cast<std::size_t>(send_count)) !=
                                blocks.side->bytes(blocks.elements(c.rank()))) {
                    return wrong;
                }
            }
            return Verdict{Reason::none, blocks.side->bytes(std::accumulate(
                                             counts, counts + c.ranks(), std::size_t{0}))};
        },
        [&](ShadowCommunicator& c) { return allgatherv(c, blocks, one, send_count); }, below);
}
TREFOIL_MPI_ENTRY(Allgatherv, allgatherv,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   const int counts[], const int displacements[], MPI_Datatype recv_type,
                   MPI_Comm comm),
                  (send, send_count, send_type, recv, counts, displacements, recv_type, comm))

template <typename Below>
int call_gatherv(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                 const int counts[], const int displacements[], MPI_Datatype recv_type, int root,
                 MPI_Comm comm, const Below& below) {
    std::optional<Side> one;
    return dispatch(
        Kind::gatherv, comm,
        [&](const ShadowCommunicator& c) {
            const bool in_place = send == MPI_IN_PLACE && c.rank() == root;
            one = in_place ? std::nullopt : side_of(send, send_count, send_type, comm);
            const bool good = root >= 0 && static_cast<std::size_t>(root) < c.ranks() &&
                              (in_place || (one && send != MPI_IN_PLACE));
            return good ? Verdict{} : wrong;
        },
        [&](ShadowCommunicator& c) {
            trefoil_comm_t t = c.prepare(false);
            if (t == nullptr) {
                return c.failure();
            }
            if (c.rank() != root) {
                Room room;
                const auto count = static_cast<std::size_t>(send_count);
                return trefoil_gatherv(room.packed(*one, count), one->bytes(count), nullptr,
                                       nullptr, nullptr, TREFOIL_UINT8, root, t);
            }
            Blocks blocks;
            if (!read(blocks, c, recv, counts, displacements, recv_type)) {
                // Without counts Trefoil refuses on all ranks, so that nobody waits for the root.
                trefoil_gatherv(nullptr, 0, nullptr, nullptr, nullptr, TREFOIL_UINT8, root, t);
                throw MpiFailure{below()};
            }
            return gatherv_at_root(c, t, blocks, one, send_count);
        },
        below);
}
TREFOIL_MPI_ENTRY(Gatherv, gatherv,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   const int counts[], const int displacements[], MPI_Datatype recv_type, int root,
                   MPI_Comm comm),
                  (send, send_count, send_type, recv, counts, displacements, recv_type, root, comm))

template <typename Below>
int call_scatterv(const void* send, const int counts[], const int displacements[],
                  MPI_Datatype send_type, void* recv, int recv_count, MPI_Datatype recv_type,
                  int root, MPI_Comm comm, const Below& below) {
    std::optional<Side> one;
    return dispatch(
        Kind::scatterv, comm,
        [&](const ShadowCommunicator& c) {
            const bool in_place = recv == MPI_IN_PLACE && c.rank() == root;
            one = in_place ? std::nullopt : side_of(recv, recv_count, recv_type, comm);
            const bool good = root >= 0 && static_cast<std::size_t>(root) < c.ranks() &&
                              (in_place || (one && recv != MPI_IN_PLACE));
            return good ? Verdict{} : wrong;
        },
        [&](ShadowCommunicator& c) {
            trefoil_comm_t t = c.prepare(false);
            if (t == nullptr) {
                return c.failure();
            }
            const auto count = static_cast<std::size_t>(one ? recv_count : 0);
            const bool flat = !one || one->flat(count);
            const std::size_t bytes = one ? one->bytes(count) : 0;
            Room room;
            void* const target = !one ? TREFOIL_IN_PLACE : flat ? one->buffer : room.take(bytes);
            trefoil_status_t status = TREFOIL_SUCCESS;
            Blocks blocks;
            if (c.rank() != root) {
                status = trefoil_scatterv(nullptr, nullptr, nullptr, target, bytes, TREFOIL_UINT8,
                                          root, t);
            } else if (read(blocks, c, send, counts, displacements, send_type)) {
                status = scatterv_at_root(c, t, blocks, target, bytes);
            } else {
                trefoil_scatterv(nullptr, nullptr, nullptr, nullptr, 0, TREFOIL_UINT8, root, t);
                throw MpiFailure{below()};
            }
            if (status == TREFOIL_SUCCESS && !flat) {
                one->unpack(0, count, static_cast<const std::byte*>(target));
            }
            return status;
        },
        below);
}
TREFOIL_MPI_ENTRY(Scatterv, scatterv,
                  (const void* send, const int counts[], const int displacements[],
                   MPI_Datatype send_type, void* recv, int recv_count, MPI_Datatype recv_type,
                   int root, MPI_Comm comm),
                  (send, counts, displacements, send_type, recv, recv_count, recv_type, root, comm))
