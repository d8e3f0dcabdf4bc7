// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move equal blocks. Ranks decide by the bytes of data, which are equal
// wherever the signatures match; see mpi/buffers.hpp.
#include <algorithm>

#include "mpi/buffers.hpp"
#include "mpi/dispatch.hpp"
#include "mpi/entry.hpp"

using namespace trefoil::mpi;

namespace {

constexpr Verdict wrong{Reason::arguments};

bool is_rank(const ShadowCommunicator& c, int root) {
    return root >= 0 && static_cast<std::size_t>(root) < c.ranks();
}

/// The two buffers of a call: one block of this rank's, and the blocks of all ranks.
struct Call {
    std::optional<Side> one, all;
    std::size_t one_count = 0, all_count = 0;
    std::size_t block = 0;  ///< bytes
    bool in_place = false;  ///< the own block is among all
    /// At the root: MPICH reports MPI_ERR_BUFFER, since both buffers are one. The others know
    /// nothing of it, so it takes part, with other memory, before it reports.
    bool aliased = false;

    Verdict verdict(const ShadowCommunicator& c) const { return {Reason::none, block * c.ranks()}; }
};

/// Reads the side that tells the size of a block; false: the arguments are wrong.
bool read_all(Call& call, const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
    call.all = side_of(buffer, count, type, comm);
    call.all_count = static_cast<std::size_t>(std::max(0, count));
    call.block = call.all ? call.all->bytes(call.all_count) : 0;
    return call.all.has_value() && buffer != MPI_IN_PLACE;
}

/// Reads a rank's own side, which must be as large, if there is another.
bool read_one(Call& call, const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
    if (buffer == MPI_IN_PLACE) {
        call.in_place = true;
        return call.all.has_value();
    }
    call.one = side_of(buffer, count, type, comm);
    call.one_count = static_cast<std::size_t>(std::max(0, count));
    const std::size_t bytes = call.one ? call.one->bytes(call.one_count) : 0;
    call.block = call.all ? call.block : bytes;
    return call.one.has_value() && bytes == call.block;
}

bool reports_aliased(const ShadowCommunicator& c, const Call& call) {
    return is_mpich && call.one && call.one->type == call.all->type &&
           call.one_count == call.all_count && call.block > 0 &&
           call.one->buffer == call.all->buffer + call.block * static_cast<std::size_t>(c.rank());
}

bool overlap(const std::byte* a, std::size_t a_bytes, const std::byte* b, std::size_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

/// Where all blocks come to lie, and where this rank's comes from, for a rank that gathers.
class Gathering {
  public:
    Gathering(const ShadowCommunicator& c, const Call& call)
        : call_(call),
          elements_(call.all_count * c.ranks()),
          flat_(call.all->flat(elements_) && !call.aliased),
          target_(flat_ ? call.all->buffer : all_room_.take(call.block * c.ranks())) {
        std::byte* const own = target_ + call.block * static_cast<std::size_t>(c.rank());
        if (call.in_place) {
            source_ = TREFOIL_IN_PLACE;
            if (!flat_) {
                const std::size_t first = call.all_count * static_cast<std::size_t>(c.rank());
                call.all->pack(static_cast<std::ptrdiff_t>(first), call.all_count, own);
            }
        } else {
            const std::byte* const source = one_room_.packed(*call.one, call.one_count);
            if (source == own) {
                source_ = TREFOIL_IN_PLACE;
            } else if (overlap(source, call.block, target_, call.block * c.ranks())) {
                // Not allowed, but neither MPI reports it, and the other ranks are here already.
                source_ = std::copy_n(source, call.block, one_room_.take(call.block)) - call.block;
            } else {
                source_ = source;
            }
        }
    }
    const void* source() const { return source_; }
    void* target() const { return target_; }
    void finish() const {
        if (!flat_ && !call_.aliased) {
            call_.all->unpack(0, elements_, target_);
        }
    }

  private:
    const Call& call_;
    Room all_room_, one_room_;
    std::size_t elements_;
    bool flat_;
    std::byte* target_;
    const void* source_ = nullptr;
};

trefoil_status_t allgather(ShadowCommunicator& c, const Call& call) {
    trefoil_comm_t t = c.prepare(false);
    if (t == nullptr) {
        return c.failure();
    }
    const Gathering gathering(c, call);
    const trefoil_status_t status =
        trefoil_allgather(gathering.source(), gathering.target(), call.block, TREFOIL_UINT8, t);
    if (status == TREFOIL_SUCCESS) {
        gathering.finish();
    }
    return status;
}

trefoil_status_t gather(ShadowCommunicator& c, const Call& call, int root) {
    trefoil_comm_t t = c.prepare(false);
    if (t == nullptr) {
        return c.failure();
    }
    if (c.rank() != root) {
        Room room;
        return trefoil_gather(room.packed(*call.one, call.one_count), nullptr, call.block,
                              TREFOIL_UINT8, root, t);
    }
    const Gathering gathering(c, call);
    const trefoil_status_t status =
        trefoil_gather(gathering.source(), gathering.target(), call.block, TREFOIL_UINT8, root, t);
    if (status == TREFOIL_SUCCESS) {
        gathering.finish();
    }
    return status;
}

trefoil_status_t scatter(ShadowCommunicator& c, const Call& call, int root) {
    trefoil_comm_t t = c.prepare(false);
    if (t == nullptr) {
        return c.failure();
    }
    Room all_room, one_room;
    const bool at_root = c.rank() == root;
    const std::byte* const source =
        at_root ? all_room.packed(*call.all, call.all_count * c.ranks()) : nullptr;
    // One buffer for both is not allowed, but Open MPI takes it, as long as nothing overlaps
    // really.
    const bool overlaps = at_root && !call.in_place &&
                          overlap(source, call.block * c.ranks(), call.one->buffer, call.block);
    const bool flat = call.in_place || (call.one->flat(call.one_count) && !overlaps);
    void* const target = call.in_place ? TREFOIL_IN_PLACE
                         : flat        ? call.one->buffer
                                       : one_room.take(call.block);
    const trefoil_status_t status =
        trefoil_scatter(source, target, call.block, TREFOIL_UINT8, root, t);
    if (status == TREFOIL_SUCCESS && !flat && !call.aliased) {
        call.one->unpack(0, call.one_count, static_cast<const std::byte*>(target));
    }
    return status;
}

trefoil_status_t bcast(ShadowCommunicator& c, const Call& call, int root) {
    trefoil_comm_t t = c.prepare(false);
    if (t == nullptr) {
        return c.failure();
    }
    Room room;
    const bool flat = call.one->flat(call.one_count);
    std::byte* const data = flat ? call.one->buffer : room.take(call.block);
    if (!flat && c.rank() == root) {
        call.one->pack(0, call.one_count, data);
    }
    const trefoil_status_t status = trefoil_bcast(data, call.block, TREFOIL_UINT8, root, t);
    if (status == TREFOIL_SUCCESS && !flat && c.rank() != root) {
        call.one->unpack(0, call.one_count, data);
    }
    return status;
}

/// The end of a call: MPI's own error, if there is one to report.
template <typename Below>
trefoil_status_t reported(const Call& call, trefoil_status_t status, const Below& below) {
    if (status == TREFOIL_SUCCESS && call.aliased) {
        throw MpiFailure{below()};
    }
    return status;
}

}  // namespace

template <typename Below>
int call_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               const Below& below) {
    Call call;
    return dispatch(
        Kind::bcast, comm,
        [&](const ShadowCommunicator& c) {
            const bool good = is_rank(c, root) && read_one(call, buffer, count, type, comm);
            return good ? Verdict{Reason::none, call.block} : wrong;
        },
        [&](ShadowCommunicator& c) { return bcast(c, call, root); }, below);
}
TREFOIL_MPI_ENTRY(Bcast, bcast,
                  (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
                  (buffer, count, type, root, comm))

template <typename Below>
int call_allgather(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm, const Below& below) {
    Call call;
    return dispatch(
        Kind::allgather, comm,
        [&](const ShadowCommunicator& c) {
            const bool good = read_all(call, recv, recv_count, recv_type, comm) &&
                              read_one(call, send, send_count, send_type, comm);
            call.aliased = good && reports_aliased(c, call);
            return good ? call.verdict(c) : wrong;
        },
        [&](ShadowCommunicator& c) { return reported(call, allgather(c, call), below); }, below);
}
TREFOIL_MPI_ENTRY(Allgather, allgather,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, comm))

template <typename Below>
int call_gather(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm,
                const Below& below) {
    Call call;
    return dispatch(
        Kind::gather, comm,
        [&](const ShadowCommunicator& c) {
            const bool good =
                is_rank(c, root) &&
                (c.rank() != root || read_all(call, recv, recv_count, recv_type, comm)) &&
                read_one(call, send, send_count, send_type, comm);
            call.aliased = good && c.rank() == root && reports_aliased(c, call);
            return good ? call.verdict(c) : wrong;
        },
        [&](ShadowCommunicator& c) { return reported(call, gather(c, call, root), below); }, below);
}
TREFOIL_MPI_ENTRY(Gather, gather,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, root, comm))

template <typename Below>
int call_scatter(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                 int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm,
                 const Below& below) {
    Call call;
    return dispatch(
        Kind::scatter, comm,
        [&](const ShadowCommunicator& c) {
            const bool good =
                is_rank(c, root) &&
                (c.rank() != root || read_all(call, send, send_count, send_type, comm)) &&
                read_one(call, recv, recv_count, recv_type, comm);
            call.aliased = good && c.rank() == root && reports_aliased(c, call);
            return good ? call.verdict(c) : wrong;
        },
        [&](ShadowCommunicator& c) { return reported(call, scatter(c, call, root), below); },
        below);
}
TREFOIL_MPI_ENTRY(Scatter, scatter,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, root, comm))
