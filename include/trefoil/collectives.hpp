// SPDX-License-Identifier: BSD-3-Clause
// The collectives of trefoil.hpp, each once for all three ways to call it. Include trefoil.hpp.
#pragma once

#include <trefoil/trefoil.h>
#include <trefoil/elements.hpp>
#include <trefoil/errors.hpp>
#include <trefoil/lengths.hpp>
#include <trefoil/operation.hpp>
#include <trefoil/request.hpp>

#include <cstddef>
#include <ranges>

namespace trefoil {

/// The three functions of the C interface for one collective.
template <typename Blocking, typename Begun>
struct Form {
    constexpr Form(Blocking blocks, Begun begins, Begun prepares)
        : blocking(blocks), begun(begins), prepared(prepares) {}
    Blocking blocking;
    Begun begun, prepared;
};

namespace forms {
inline constexpr Form allgather{trefoil_allgather, trefoil_iallgather, trefoil_allgather_init};
inline constexpr Form allgatherv{trefoil_allgatherv, trefoil_iallgatherv, trefoil_allgatherv_init};
inline constexpr Form allreduce{trefoil_allreduce, trefoil_iallreduce, trefoil_allreduce_init};
inline constexpr Form alltoall{trefoil_alltoall, trefoil_ialltoall, trefoil_alltoall_init};
inline constexpr Form alltoallv{trefoil_alltoallv, trefoil_ialltoallv, trefoil_alltoallv_init};
inline constexpr Form barrier{trefoil_barrier, trefoil_ibarrier, trefoil_barrier_init};
inline constexpr Form bcast{trefoil_bcast, trefoil_ibcast, trefoil_bcast_init};
inline constexpr Form exscan{trefoil_exscan, trefoil_iexscan, trefoil_exscan_init};
inline constexpr Form gather{trefoil_gather, trefoil_igather, trefoil_gather_init};
inline constexpr Form gatherv{trefoil_gatherv, trefoil_igatherv, trefoil_gatherv_init};
inline constexpr Form neighbor_allgather{trefoil_neighbor_allgather, trefoil_ineighbor_allgather,
                                         trefoil_neighbor_allgather_init};
inline constexpr Form neighbor_allgatherv{trefoil_neighbor_allgatherv, trefoil_ineighbor_allgatherv,
                                          trefoil_neighbor_allgatherv_init};
inline constexpr Form neighbor_alltoall{trefoil_neighbor_alltoall, trefoil_ineighbor_alltoall,
                                        trefoil_neighbor_alltoall_init};
inline constexpr Form neighbor_alltoallv{trefoil_neighbor_alltoallv, trefoil_ineighbor_alltoallv,
                                         trefoil_neighbor_alltoallv_init};
inline constexpr Form reduce{trefoil_reduce, trefoil_ireduce, trefoil_reduce_init};
inline constexpr Form reduce_scatter{trefoil_reduce_scatter, trefoil_ireduce_scatter,
                                     trefoil_reduce_scatter_init};
inline constexpr Form reduce_scatter_block{
    trefoil_reduce_scatter_block, trefoil_ireduce_scatter_block, trefoil_reduce_scatter_block_init};
inline constexpr Form scan{trefoil_scan, trefoil_iscan, trefoil_scan_init};
inline constexpr Form scatter{trefoil_scatter, trefoil_iscatter, trefoil_scatter_init};
inline constexpr Form scatterv{trefoil_scatterv, trefoil_iscatterv, trefoil_scatterv_init};
}  // namespace forms

/// A call returns when it is complete.
struct Blocking {
    using Result = void;
    template <typename F, typename... Arguments>
    static void call(const F& form, trefoil_comm_t comm, Arguments... arguments) {
        check(form.blocking(arguments..., comm));
    }
};
/// A call returns when it has begun; the request ends it.
struct Nonblocking {
    using Result = Request;
    template <typename F, typename... Arguments>
    static Request call(const F& form, trefoil_comm_t comm, Arguments... arguments) {
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        check(form.begun(arguments..., comm, &request));
        return Request(request);
    }
};
/// A call returns when it is prepared; the request starts it.
struct Persistent {
    using Result = Request;
    template <typename F, typename... Arguments>
    static Request call(const F& form, trefoil_comm_t comm, Arguments... arguments) {
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        check(form.prepared(arguments..., comm, &request));
        return Request(request);
    }
};

/// Buffers are spans, or what a span can be made of: vectors, arrays. `in_place` stands where the C
/// interface has TREFOIL_IN_PLACE. Lengths that do not fit are refused.
template <typename How>
class Collectives {
  public:
    using Result = typename How::Result;

    /// Does not own the communicator.
    explicit Collectives(trefoil_comm_t handle) : handle_(handle) {}

    // The collectives. `all` has a block for each rank, in rank order, of equal lengths or of
    // counts[r] elements; those lie side by side, or displacements[r] elements from its beginning.

    /// recv[i] = op over all ranks of send[i].
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    Result allreduce(const S& send, R&& recv, const Op& op = TREFOIL_SUM) {
        const std::size_t count = std::ranges::size(recv);
        lengths("allreduce").equal(send, count);
        const Reduction by = reduction_of<Element<R>>(op);
        return How::call(forms::allreduce, handle(), input(send), output(recv), count, by.datatype,
                         by.op);
    }
    /// In place.
    template <Writable R, ReductionOf<Element<R>> Op = trefoil_op_t>
    Result allreduce(R&& values, const Op& op = TREFOIL_SUM) {
        return allreduce(in_place, values, op);
    }
    /// Without types.
    Result allreduce(const void* send, void* recv, std::size_t count, trefoil_datatype_t datatype,
                     trefoil_op_t op) {
        return How::call(forms::allreduce, handle(), send, recv, count, datatype, op);
    }

    /// `recv` matters at the root only. In place at the root: the input is in `recv`.
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    Result reduce(const S& send, R&& recv, int root, const Op& op = TREFOIL_SUM) {
        std::size_t count = std::ranges::size(recv);
        if constexpr (!IsInPlace<S>) {
            if (rank() == root) {
                lengths("reduce").equal(send, count);
            }
            count = std::ranges::size(send);
        }
        const Reduction by = reduction_of<Element<R>>(op);
        return How::call(forms::reduce, handle(), input(send), output(recv), count, by.datatype,
                         by.op, root);
    }

    /// Rank r receives the reduction of what ranks 0 ... r send.
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    Result scan(const S& send, R&& recv, const Op& op = TREFOIL_SUM) {
        const std::size_t count = std::ranges::size(recv);
        lengths("scan").equal(send, count);
        const Reduction by = reduction_of<Element<R>>(op);
        return How::call(forms::scan, handle(), input(send), output(recv), count, by.datatype,
                         by.op);
    }
    /// The same without the own contribution. Rank 0 receives nothing, and gives a `recv` of the
    /// same length all the same.
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    Result exscan(const S& send, R&& recv, const Op& op = TREFOIL_SUM) {
        const std::size_t count = std::ranges::size(recv);
        lengths("exscan").equal(send, count);
        const Reduction by = reduction_of<Element<R>>(op);
        return How::call(forms::exscan, handle(), input(send), output(recv), count, by.datatype,
                         by.op);
    }

    /// Rank r receives block r of the reduction of `all`. In place: all blocks are in `mine`, and
    /// the result is at its beginning.
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    Result reduce_scatter(const S& all, R&& mine, const Op& op = TREFOIL_SUM) {
        const Lengths fit = lengths("reduce_scatter");
        const std::size_t count = IsInPlace<S> ? fit.block_of(mine) : std::ranges::size(mine);
        fit.equal(all, fit.of_all(count));
        const Reduction by = reduction_of<Element<R>>(op);
        return How::call(forms::reduce_scatter_block, handle(), input(all), output(mine), count,
                         by.datatype, by.op);
    }
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    Result reduce_scatterv(const S& all, R&& mine, Counts counts, const Op& op = TREFOIL_SUM) {
        const Lengths fit = lengths("reduce_scatterv");
        if constexpr (IsInPlace<S>) {
            fit.room(std::ranges::size(mine), counts, {});
        } else {
            fit.room(std::ranges::size(all), counts, {});
            fit.equal(mine, counts[static_cast<std::size_t>(rank())]);
        }
        const Reduction by = reduction_of<Element<R>>(op);
        return How::call(forms::reduce_scatter, handle(), input(all), output(mine), counts.data(),
                         by.datatype, by.op);
    }

    /// In place: the own block is in `all` already.
    template <Writable R, SendOf<Element<R>> S>
    Result allgather(const S& mine, R&& all) {
        const Lengths fit = lengths("allgather");
        const std::size_t count = fit.own_block(mine, all);
        fit.equal(all, fit.of_all(count));
        return How::call(forms::allgather, handle(), input(mine), output(all), count,
                         datatype_of<Element<R>>());
    }
    template <Writable R, SendOf<Element<R>> S>
    Result allgatherv(const S& mine, R&& all, Counts counts, Counts displacements = {}) {
        lengths("allgatherv").room(std::ranges::size(all), counts, displacements);
        return How::call(forms::allgatherv, handle(), input(mine), length(mine), output(all),
                         counts.data(), displacements.data(), datatype_of<Element<R>>());
    }

    template <Writable R>
    Result bcast(R&& buffer, int root) {
        return How::call(forms::bcast, handle(), output(buffer), std::ranges::size(buffer),
                         datatype_of<Element<R>>(), root);
    }

    /// `all` matters at the root only, as do counts and displacements. In place at the root: its
    /// block is in `all` already.
    template <Writable R, SendOf<Element<R>> S>
    Result gather(const S& mine, R&& all, int root) {
        const Lengths fit = lengths("gather");
        const std::size_t count = fit.own_block(mine, all);
        if (rank() == root) {
            fit.equal(all, fit.of_all(count));
        }
        return How::call(forms::gather, handle(), input(mine), output(all), count,
                         datatype_of<Element<R>>(), root);
    }
    template <Writable R, SendOf<Element<R>> S>
    Result gatherv(const S& mine, R&& all, Counts counts, int root, Counts displacements = {}) {
        if (rank() == root) {
            lengths("gatherv").room(std::ranges::size(all), counts, displacements);
        }
        return How::call(forms::gatherv, handle(), input(mine), length(mine), output(all),
                         counts.data(), displacements.data(), datatype_of<Element<R>>(), root);
    }

    /// `all` matters at the root only, as do counts and displacements. In place at the root: its
    /// block stays in `all`.
    template <Readable S, ReceiveOf<Element<S>> R>
    Result scatter(const S& all, R&& mine, int root) {
        const Lengths fit = lengths("scatter");
        const std::size_t count = fit.own_block(mine, all);
        if (rank() == root) {
            fit.equal(all, fit.of_all(count));
        }
        return How::call(forms::scatter, handle(), input(all), output(mine), count,
                         datatype_of<Element<S>>(), root);
    }
    template <Readable S, ReceiveOf<Element<S>> R>
    Result scatterv(const S& all, R&& mine, Counts counts, int root, Counts displacements = {}) {
        if (rank() == root) {
            lengths("scatterv").room(std::ranges::size(all), counts, displacements);
        }
        return How::call(forms::scatterv, handle(), input(all), counts.data(), displacements.data(),
                         output(mine), length(mine), datatype_of<Element<S>>(), root);
    }

    /// Block r of `send` goes to rank r, block s of `recv` comes from rank s. In place: the blocks
    /// are in `recv`, and are replaced.
    template <Writable R, SendOf<Element<R>> S>
    Result alltoall(const S& send, R&& recv) {
        const Lengths fit = lengths("alltoall");
        fit.equal(send, std::ranges::size(recv));
        return How::call(forms::alltoall, handle(), input(send), output(recv), fit.block_of(recv),
                         datatype_of<Element<R>>());
    }
    /// In place.
    template <Writable R>
    Result alltoall(R&& blocks) {
        return alltoall(in_place, blocks);
    }
    template <Writable R, Readable S>
    requires SendOf<S, Element<R>> Result alltoallv(const S& send, Counts send_counts, R&& recv,
                                                    Counts recv_counts,
                                                    Counts send_displacements = {},
                                                    Counts recv_displacements = {}) {
        const Lengths fit = lengths("alltoallv");
        fit.room(std::ranges::size(send), send_counts, send_displacements);
        fit.room(std::ranges::size(recv), recv_counts, recv_displacements);
        return How::call(forms::alltoallv, handle(), input(send), send_counts.data(),
                         send_displacements.data(), output(recv), recv_counts.data(),
                         recv_displacements.data(), datatype_of<Element<R>>());
    }
    /// In place: counts and displacements are those of what is sent, too.
    template <Writable R>
    Result alltoallv(InPlace, R&& blocks, Counts counts, Counts displacements = {}) {
        lengths("alltoallv").room(std::ranges::size(blocks), counts, displacements);
        return How::call(forms::alltoallv, handle(), TREFOIL_IN_PLACE, nullptr, nullptr,
                         output(blocks), counts.data(), displacements.data(),
                         datatype_of<Element<R>>());
    }

    // Exchanges with the neighbours in the torus, two per dimension, first the one in the negative
    // direction. Buffers and lists have a block for each, in that order.

    template <Writable R, Readable S>
    requires SendOf<S, Element<R>> Result neighbor_allgather(const S& mine, R&& blocks) {
        const std::size_t count = std::ranges::size(mine);
        const Lengths fit = lengths_of_neighbours("neighbor_allgather");
        fit.equal(blocks, fit.of_all(count));
        return How::call(forms::neighbor_allgather, handle(), input(mine), output(blocks), count,
                         datatype_of<Element<R>>());
    }
    template <Writable R, Readable S>
    requires SendOf<S, Element<R>> Result neighbor_allgatherv(const S& mine, R&& blocks,
                                                              Counts counts,
                                                              Counts displacements = {}) {
        lengths_of_neighbours("neighbor_allgatherv")
            .room(std::ranges::size(blocks), counts, displacements);
        return How::call(forms::neighbor_allgatherv, handle(), input(mine), length(mine),
                         output(blocks), counts.data(), displacements.data(),
                         datatype_of<Element<R>>());
    }
    template <Writable R, Readable S>
    requires SendOf<S, Element<R>> Result neighbor_alltoall(const S& send, R&& recv) {
        const Lengths fit = lengths_of_neighbours("neighbor_alltoall");
        fit.equal(send, std::ranges::size(recv));
        return How::call(forms::neighbor_alltoall, handle(), input(send), output(recv),
                         fit.block_of(recv), datatype_of<Element<R>>());
    }
    template <Writable R, Readable S>
    requires SendOf<S, Element<R>> Result neighbor_alltoallv(const S& send, Counts send_counts,
                                                             R&& recv, Counts recv_counts,
                                                             Counts send_displacements = {},
                                                             Counts recv_displacements = {}) {
        const Lengths fit = lengths_of_neighbours("neighbor_alltoallv");
        fit.room(std::ranges::size(send), send_counts, send_displacements);
        fit.room(std::ranges::size(recv), recv_counts, recv_displacements);
        return How::call(forms::neighbor_alltoallv, handle(), input(send), send_counts.data(),
                         send_displacements.data(), output(recv), recv_counts.data(),
                         recv_displacements.data(), datatype_of<Element<R>>());
    }

    Result barrier() { return How::call(forms::barrier, handle()); }

  protected:
    trefoil_comm_t handle() const { return handle_; }
    int rank() const { return number(trefoil_comm_rank); }
    int size() const { return number(trefoil_comm_size); }
    int number(trefoil_status_t (*get)(trefoil_comm_t, int*)) const {
        int value = 0;
        check(get(handle_, &value));
        return value;
    }

    trefoil_comm_t handle_ = nullptr;

  private:
    template <typename S>
    static const void* input(const S& buffer) {
        if constexpr (IsInPlace<S>) {
            return TREFOIL_IN_PLACE;
        } else {
            return std::ranges::data(buffer);
        }
    }
    template <typename R>
    static void* output(R& buffer) {
        if constexpr (IsInPlace<R>) {
            return TREFOIL_IN_PLACE;
        } else {
            return std::ranges::data(buffer);
        }
    }
    /// 0 in place, where it is not asked for.
    template <typename B>
    static std::size_t length(const B& buffer) {
        if constexpr (IsInPlace<B>) {
            return 0;
        } else {
            return std::ranges::size(buffer);
        }
    }
    Lengths lengths(const char* call) const { return {call, size()}; }
    Lengths lengths_of_neighbours(const char* call) const {
        int dimensions = 0;
        check(trefoil_comm_torus(handle_, &dimensions, nullptr, 0));
        return {call, 2 * dimensions};
    }
};

}  // namespace trefoil
