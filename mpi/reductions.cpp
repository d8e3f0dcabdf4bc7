// SPDX-License-Identifier: BSD-3-Clause
// The collectives that reduce, and the barrier. All their arguments but the buffers are alike on
// all ranks, so each rank decides by itself.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "mpi/buffers.hpp"
#include "mpi/dispatch.hpp"
#include "mpi/entry.hpp"
#include "mpi/next.hpp"
#include "mpi/operations.hpp"

using namespace trefoil::mpi;

namespace {

const void* from(const void* send) {
    return send == MPI_IN_PLACE ? TREFOIL_IN_PLACE : send;
}

/// The verdict on `elements` elements in all.
Verdict verdict_on(const Reduction& reduction, std::size_t elements) {
    return {reduction.reason, elements * reduction.element_bytes};
}

/// MPICH wants MPI_IN_PLACE instead, and reports MPI_ERR_BUFFER.
bool aliased(const void* send, const void* recv) {
    return is_mpich && send == recv;
}

constexpr Verdict wrong{Reason::arguments};

/// Readies communicator and operation, then `call`s.
template <typename Call>
trefoil_status_t reduce_by(ShadowCommunicator& c, Reduction& reduction, Call&& call) {
    trefoil_comm_t comm = c.prepare(reduction.user);
    if (comm == nullptr) {
        return c.failure();
    }
    const trefoil_status_t status = use(reduction);
    return status != TREFOIL_SUCCESS ? status : call(comm);
}

}  // namespace

template <typename Below>
int call_allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, const Below& below) {
    Reduction reduction;
    return dispatch(
        Kind::allreduce, comm,
        [&](const ShadowCommunicator&) {
            if (count < 0 || recv == MPI_IN_PLACE || aliased(send, recv)) {
                return wrong;
            }
            reduction = reduction_of(type, op);
            return verdict_on(reduction, static_cast<std::size_t>(count));
        },
        [&](ShadowCommunicator& c) {
            return reduce_by(c, reduction, [&](trefoil_comm_t t) {
                return trefoil_allreduce(from(send), recv, static_cast<std::size_t>(count),
                                         reduction.type, reduction.op, t);
            });
        },
        below);
}
TREFOIL_MPI_ENTRY(Allreduce, allreduce,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, count, type, op, comm))

template <typename Below>
int call_reduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, const Below& below) {
    Reduction reduction;
    return dispatch(
        Kind::reduce, comm,
        [&](const ShadowCommunicator& c) {
            if (count < 0 || root < 0 || static_cast<std::size_t>(root) >= c.ranks() ||
                (root != c.rank() && send == MPI_IN_PLACE)) {
                return wrong;
            }
            reduction = reduction_of(type, op);
            return verdict_on(reduction, static_cast<std::size_t>(count));
        },
        [&](ShadowCommunicator& c) {
            // Both MPIs report that, at the root; the others know nothing of it. So the root takes
            // part, with other memory, before it reports.
            const bool aliased_root = root == c.rank() && (recv == MPI_IN_PLACE || recv == send);
            const auto elements = static_cast<std::size_t>(count);
            const std::size_t bytes = elements * reduction.element_bytes;
            Room room;
            void* const target = aliased_root ? room.take(bytes) : recv;
            if (aliased_root && send == MPI_IN_PLACE) {
                std::memset(target, 0, bytes);
            }
            const trefoil_status_t status = reduce_by(c, reduction, [&](trefoil_comm_t t) {
                return trefoil_reduce(from(send), target, elements, reduction.type, reduction.op,
                                      root, t);
            });
            if (status == TREFOIL_SUCCESS && aliased_root) {
                throw MpiFailure{below()};
            }
            return status;
        },
        below);
}
TREFOIL_MPI_ENTRY(Reduce, reduce,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm),
                  (send, recv, count, type, op, root, comm))

template <typename Below>
int call_reduce_scatter_block(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, const Below& below) {
    Reduction reduction;
    return dispatch(
        Kind::reduce_scatter_block, comm,
        [&](const ShadowCommunicator& c) {
            if (count < 0 || recv == MPI_IN_PLACE || aliased(send, recv)) {
                return wrong;
            }
            reduction = reduction_of(type, op);
            return verdict_on(reduction, static_cast<std::size_t>(count) * c.ranks());
        },
        [&](ShadowCommunicator& c) {
            return reduce_by(c, reduction, [&](trefoil_comm_t t) {
                return trefoil_reduce_scatter_block(from(send), recv,
                                                    static_cast<std::size_t>(count), reduction.type,
                                                    reduction.op, t);
            });
        },
        below);
}
TREFOIL_MPI_ENTRY(Reduce_scatter_block, reduce_scatter_block,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, count, type, op, comm))

template <typename Below>
int call_reduce_scatter(const void* send, void* recv, const int counts[], MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm, const Below& below) {
    Reduction reduction;
    return dispatch(
        Kind::reduce_scatter, comm,
        [&](const ShadowCommunicator& c) {
            const int* const end = counts + (counts == nullptr ? 0 : c.ranks());
            if (counts == nullptr || recv == MPI_IN_PLACE || aliased(send, recv) ||
                std::any_of(counts, end, [](int count) { return count < 0; })) {
                return wrong;
            }
            reduction = reduction_of(type, op);
            return verdict_on(reduction, std::accumulate(counts, end, std::size_t{0}));
        },
        [&](ShadowCommunicator& c) {
            c.counts.assign(counts, counts + c.ranks());
            return reduce_by(c, reduction, [&](trefoil_comm_t t) {
                return trefoil_reduce_scatter(from(send), recv, c.counts.data(), reduction.type,
                                              reduction.op, t);
            });
        },
        below);
}
TREFOIL_MPI_ENTRY(Reduce_scatter, reduce_scatter,
                  (const void* send, void* recv, const int counts[], MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, counts, type, op, comm))

/// Scan and exscan: `form` is the function of the interface.
template <typename Form, typename Below>
int call_prefix(Kind kind, Form form, const void* send, void* recv, int count, MPI_Datatype type,
                MPI_Op op, MPI_Comm comm, const Below& below) {
    Reduction reduction;
    return dispatch(
        kind, comm,
        [&](const ShadowCommunicator&) {
            if (count < 0 || recv == MPI_IN_PLACE || aliased(send, recv)) {
                return wrong;
            }
            reduction = reduction_of(type, op);
            return verdict_on(reduction, static_cast<std::size_t>(count));
        },
        [&](ShadowCommunicator& c) {
            return reduce_by(c, reduction, [&](trefoil_comm_t t) {
                return form(from(send), recv, static_cast<std::size_t>(count), reduction.type,
                            reduction.op, t);
            });
        },
        below);
}
template <typename Below>
int call_scan(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              const Below& below) {
    return call_prefix(Kind::scan, trefoil_scan, send, recv, count, type, op, comm, below);
}
template <typename Below>
int call_exscan(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm, const Below& below) {
    return call_prefix(Kind::exscan, trefoil_exscan, send, recv, count, type, op, comm, below);
}
TREFOIL_MPI_ENTRY(Scan, scan,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, count, type, op, comm))
TREFOIL_MPI_ENTRY(Exscan, exscan,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, count, type, op, comm))

template <typename Below>
int call_barrier(MPI_Comm comm, const Below& below) {
    return dispatch(
        Kind::barrier, comm, [](const ShadowCommunicator&) { return Verdict{}; },
        [](ShadowCommunicator& c) {
            trefoil_comm_t t = c.prepare(false);
            return t == nullptr ? c.failure() : trefoil_barrier(t);
        },
        below);
}

#ifdef MPICH
// By both names, as its module mpi_f08 calls the second.
extern "C" [[gnu::visibility("default")]] int PMPI_Barrier(MPI_Comm comm) {
    static auto* const below = next<int(MPI_Comm)>("PMPI_Barrier");
    return call_barrier(comm, [comm] { return below(comm); });
}
extern "C" [[gnu::visibility("default")]] int MPI_Barrier(MPI_Comm comm) {
    return PMPI_Barrier(comm);
}
#else
TREFOIL_MPI_ENTRY(Barrier, barrier, (MPI_Comm comm), (comm))
#endif
