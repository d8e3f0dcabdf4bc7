// SPDX-License-Identifier: BSD-3-Clause
// The collectives that reduce, and the barrier. All their arguments but the buffers are alike on
// all ranks, so each rank decides by itself.
#include TREFOIL_MPI_ENTRIES  // the host's way in

#include <algorithm>
#include <cstring>
#include <numeric>

#include "mpi/buffers.hpp"
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

/// Of two numbers the sum is the same in either order, and the product; but that of two complex
/// numbers is a sum of products, of which processors round one alone.
bool is_exact(const Reduction& reduction, const ShadowCommunicator& c) {
    const bool complex =
        reduction.type == TREFOIL_COMPLEX_FLOAT || reduction.type == TREFOIL_COMPLEX_DOUBLE;
    return reduction.exact ||
           (c.ranks() == 2 && !reduction.user && !(complex && reduction.op == TREFOIL_PROD));
}

/// MPICH wants MPI_IN_PLACE instead, and reports MPI_ERR_BUFFER.
bool aliased(const void* send, const void* recv) {
    return is_mpich() && send == recv;
}

bool miss_memory(const void* send, const void* recv, MPI_Count count, MPI_Datatype type) {
    return names_no_memory(send, count, type) || names_no_memory(recv, count, type);
}

/// Readies the operation, then `begin`s.
template <typename Begin>
trefoil_status_t reduce_by(Reduction& reduction, const Form& form, Begin&& begin) {
    const trefoil_status_t status = form.way == Way::blocking ? use(reduction) : bind(reduction);
    return status != TREFOIL_SUCCESS ? status : begin();
}

/// The functions of Trefoil's for a collective whose ranks all give `count` elements.
template <Kind K, typename Use>
trefoil_status_t with_functions(Use&& use) {
    if constexpr (K == Kind::allreduce) {
        return use(TREFOIL_MPI_FORMS(allreduce));
    } else if constexpr (K == Kind::scan) {
        return use(TREFOIL_MPI_FORMS(scan));
    } else if constexpr (K == Kind::exscan) {
        return use(TREFOIL_MPI_FORMS(exscan));
    } else {
        return use(TREFOIL_MPI_FORMS(reduce_scatter_block));
    }
}

/// Allreduce, scan, exscan, and reduce_scatter_block, whose vector has a block for each rank.
template <Kind K>
struct ReductionOfAll : CollectiveCall {
    static constexpr Kind kind = K;
    const void* send;
    void* recv;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    Reduction reduction{};

    bool serial() const { return reduction.user; }
    bool exact(const ShadowCommunicator& c) const { return is_exact(reduction, c); }
    bool keeps() const { return send != MPI_IN_PLACE; }
    Verdict decide(const ShadowCommunicator& c) {
        if (count < 0 || recv == MPI_IN_PLACE || aliased(send, recv) ||
            miss_memory(send, recv, count, type)) {
            return wrong_arguments;
        }
        reduction = reduction_of(type, op);
        const std::size_t blocks = kind == Kind::reduce_scatter_block ? c.ranks() : 1;
        return verdict_on(reduction, static_cast<std::size_t>(count) * blocks);
    }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) {
        return reduce_by(reduction, form, [&] {
            return with_functions<kind>([&](auto*... functions) {
                return form.call(functions..., from(send), recv, static_cast<std::size_t>(count),
                                 reduction.type, reduction.op, t);
            });
        });
    }
};
using Allreduce = ReductionOfAll<Kind::allreduce>;
using Scan = ReductionOfAll<Kind::scan>;
using Exscan = ReductionOfAll<Kind::exscan>;
using ReduceScatterBlock = ReductionOfAll<Kind::reduce_scatter_block>;

struct Reduce : CollectiveCall {
    static constexpr Kind kind = Kind::reduce;
    const void* send;
    void* recv;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    Reduction reduction{};
    /// The root's buffer for the result is none, or also what it sends. MPI reports that there, and
    /// the others know nothing of it. So the root takes part, with other memory, before it reports.
    bool refused = false;
    bool gives_no_room = false;  ///< the same, but Open MPI does not report it
    Room room{};

    bool serial() const { return reduction.user; }
    bool exact(const ShadowCommunicator& c) const { return is_exact(reduction, c); }
    bool keeps() const { return send != MPI_IN_PLACE; }
    bool reports() const { return refused; }
    bool only_sends(const ShadowCommunicator& c) const { return root != c.rank(); }
    Verdict decide(const ShadowCommunicator& c) {
        if (count < 0 || root < 0 || static_cast<std::size_t>(root) >= c.ranks() ||
            (root != c.rank() && send == MPI_IN_PLACE) || names_no_memory(send, count, type)) {
            return wrong_arguments;
        }
        reduction = reduction_of(type, op);
        gives_no_room = !is_mpich() && root == c.rank() && recv == nullptr && count > 0;
        refused = root == c.rank() &&
                  (recv == MPI_IN_PLACE || recv == send || names_no_memory(recv, count, type));
        return verdict_on(reduction, static_cast<std::size_t>(count));
    }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) {
        const auto elements = static_cast<std::size_t>(count);
        const std::size_t bytes = elements * reduction.element_bytes;
        const bool apart = refused || gives_no_room;
        void* const target = apart ? room.take(bytes) : recv;
        if (apart && send == MPI_IN_PLACE) {
            std::memset(target, 0, bytes);
        }
        return reduce_by(reduction, form, [&] {
            return form.call(TREFOIL_MPI_FORMS(reduce), from(send), target, elements,
                             reduction.type, reduction.op, root, t);
        });
    }
};

template <typename Count>
struct ReduceScatter : CollectiveCall {
    static constexpr Kind kind = Kind::reduce_scatter;
    const void* send;
    void* recv;
    KeptList<Count> counts;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    Reduction reduction{};
    BlockList* list = nullptr;

    bool serial() const { return reduction.user; }
    bool exact(const ShadowCommunicator& c) const { return is_exact(reduction, c); }
    bool keeps() const { return send != MPI_IN_PLACE; }
    void keep(const ShadowCommunicator& c) { counts.keep(c.ranks()); }
    Verdict decide(const ShadowCommunicator& c) {
        const Count* const end = counts + (counts == nullptr ? 0 : c.ranks());
        if (counts == nullptr || recv == MPI_IN_PLACE || aliased(send, recv) ||
            std::any_of(counts.data(), end, [](Count count) { return count < 0; })) {
            return wrong_arguments;
        }
        const std::size_t elements = std::accumulate(counts.data(), end, std::size_t{0});
        if (names_no_memory(send, static_cast<MPI_Count>(elements), type) ||
            names_no_memory(recv, counts[c.rank()], type)) {
            return wrong_arguments;
        }
        reduction = reduction_of(type, op);
        return verdict_on(reduction, elements);
    }
    void stage(const ShadowCommunicator& c, BlockLists& lists) {
        list = &lists.recv;
        list->counts.assign(counts.data(), counts + c.ranks());
    }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) {
        return reduce_by(reduction, form, [&] {
            return form.call(TREFOIL_MPI_FORMS(reduce_scatter), from(send), recv,
                             list->counts.data(), reduction.type, reduction.op, t);
        });
    }
};

struct Barrier : CollectiveCall {
    static constexpr Kind kind = Kind::barrier;
    MPI_Comm comm;

    Verdict decide(const ShadowCommunicator&) const { return {}; }
    /// Programs rely on a barrier for what came before it to be over: what has been received needs
    /// no room among buffered sends any more. Open MPI's own barrier comes after that in one queue.
    trefoil_status_t run(ShadowCommunicator& c, trefoil_comm_t t, const Form& form) const {
        const trefoil_status_t status = form.call(TREFOIL_MPI_FORMS(barrier), t);
        for (int looks = 0; !is_mpich() && form.way == Way::blocking && looks < 4; ++looks) {
            c.progress();
        }
        return status;
    }
};

}  // namespace

TREFOIL_MPI_ENTRY(Allreduce, allreduce, Allreduce,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, count, type, op, comm))
TREFOIL_MPI_ENTRY(Reduce, reduce, Reduce,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm),
                  (send, recv, count, type, op, root, comm))
TREFOIL_MPI_ENTRY(Reduce_scatter_block, reduce_scatter_block, ReduceScatterBlock,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, count, type, op, comm))
TREFOIL_MPI_ENTRY(Reduce_scatter, reduce_scatter, ReduceScatter<int>,
                  (const void* send, void* recv, const int counts[], MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, counts, type, op, comm))
TREFOIL_MPI_ENTRY(Scan, scan, Scan,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, count, type, op, comm))
TREFOIL_MPI_ENTRY(Exscan, exscan, Exscan,
                  (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  (send, recv, count, type, op, comm))

TREFOIL_MPI_LARGE_ENTRY(Allreduce, Allreduce,
                        (const void* send, void* recv, MPI_Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm),
                        (send, recv, count, type, op, comm))
TREFOIL_MPI_LARGE_ENTRY(Reduce_scatter_block, ReduceScatterBlock,
                        (const void* send, void* recv, MPI_Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm),
                        (send, recv, count, type, op, comm))
TREFOIL_MPI_LARGE_ENTRY(Scan, Scan,
                        (const void* send, void* recv, MPI_Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm),
                        (send, recv, count, type, op, comm))
TREFOIL_MPI_LARGE_ENTRY(Exscan, Exscan,
                        (const void* send, void* recv, MPI_Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm),
                        (send, recv, count, type, op, comm))
TREFOIL_MPI_LARGE_ENTRY(Reduce, Reduce,
                        (const void* send, void* recv, MPI_Count count, MPI_Datatype type,
                         MPI_Op op, int root, MPI_Comm comm),
                        (send, recv, count, type, op, root, comm))
TREFOIL_MPI_LARGE_ENTRY(Reduce_scatter, ReduceScatter<MPI_Count>,
                        (const void* send, void* recv, const MPI_Count counts[], MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm),
                        (send, recv, counts, type, op, comm))

#ifndef OPEN_MPI
// By both names, as MPICH's module mpi_f08 calls the second.
extern "C" [[gnu::visibility("default")]] int PMPI_Barrier(MPI_Comm comm) {
    static auto* const below = next<decltype(PMPI_Barrier)>("PMPI_Barrier");
    return HandedOn::here() ? below(comm)
                            : take<Barrier>(
                                  comm, [comm] { return below(comm); }, comm);
}
extern "C" [[gnu::visibility("default")]] int MPI_Barrier(MPI_Comm comm) {
    static auto* const below = next<decltype(MPI_Barrier)>("MPI_Barrier");
    const auto hand_on = [comm] {
        const HandedOn handed_on;
        return below(comm);
    };
    return take<Barrier>(comm, hand_on, comm);
}
#else
TREFOIL_MPI_ENTRY(Barrier, barrier, Barrier, (MPI_Comm comm), (comm))
#endif
