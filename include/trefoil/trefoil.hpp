// SPDX-License-Identifier: BSD-3-Clause
// Trefoil for C++20: the C interface with owned handles, spans, element types that deduce
// themselves, and exceptions. Header only.
#pragma once

#include <trefoil/trefoil.h>
#include <trefoil/elements.hpp>
#include <trefoil/errors.hpp>
#include <trefoil/lengths.hpp>
#include <trefoil/log.hpp>
#include <trefoil/operation.hpp>

#include <cstddef>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace trefoil {

/// What carries the data: "ofi" and its provider "net"; "" where a backend has only one.
struct Transport {
    std::string backend, provider;
};

/// Owns a communicator. The thread rules, and that all ranks make the same calls in the same order,
/// are those of trefoil.h; every function throws CallFailed.
///
/// Buffers are spans, or what a span can be made of: vectors, arrays. `in_place` stands where the C
/// interface has TREFOIL_IN_PLACE. Lengths that do not fit are refused.
class Comm {
  public:
    /// Collective. Without a configuration everything comes from the environment.
    explicit Comm(const trefoil_config_t& config = TREFOIL_CONFIG_INITIALIZER) {
        check(trefoil_comm_create(&config, &handle_));
    }
    /// Not collective. Peers must not need this rank any more: call barrier() before.
    ~Comm() { trefoil_comm_destroy(handle_); }
    Comm(Comm&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Comm& operator=(Comm&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    int rank() const { return number(trefoil_comm_rank); }
    int size() const { return number(trefoil_comm_size); }

    /// The sizes of the torus's dimensions, and who has decided on them.
    std::vector<int> torus() const {
        int dimensions = 0;
        check(trefoil_comm_torus(handle_, &dimensions, nullptr, 0));
        std::vector<int> sizes(static_cast<std::size_t>(dimensions));
        check(trefoil_comm_torus(handle_, &dimensions, sizes.data(), dimensions));
        return sizes;
    }
    std::string torus_source() const { return text(trefoil_comm_torus_source); }

    /// A rank's place in the torus, one coordinate per dimension.
    std::vector<int> coordinates(int rank) const {
        std::vector<int> place = torus();
        check(
            trefoil_comm_coordinates(handle_, rank, place.data(), static_cast<int>(place.size())));
        return place;
    }

    Transport transport() const {
        const char *backend = nullptr, *provider = nullptr;
        check(trefoil_comm_transport(handle_, &backend, &provider));
        return {backend, provider};
    }
    /// What this rank holds for its peers, and what went through one of its ports.
    trefoil_resources_t resources() const {
        trefoil_resources_t held{};
        held.size = sizeof held;
        check(trefoil_comm_resources(handle_, &held));
        return held;
    }
    trefoil_port_t port(int port) const {
        trefoil_port_t sent{};
        sent.size = sizeof sent;
        check(trefoil_comm_port(handle_, port, &sent));
        return sent;
    }
    /// Why this communicator has failed; "": it has not.
    std::string failure() const { return trefoil_last_error(handle_); }

    /// It has failed before any buffer was touched, on all ranks.
    bool nothing_moved() const { return number(trefoil_comm_nothing_moved) != 0; }

    void set_algorithm(const std::string& collective, const std::string& name) {
        check(trefoil_comm_set_algorithm(handle_, collective.c_str(), name.c_str()));
    }
    /// What a call of `count` elements of type T would use, as set_algorithm() takes it.
    template <typename T>
    std::string algorithm(const std::string& collective, std::size_t count) const {
        const char* name = nullptr;
        check(trefoil_comm_algorithm(handle_, collective.c_str(), count, datatype_of<T>(), &name));
        return name;
    }
    /// Runs a schedule of the user's, in JSON, once it is proved; all ranks must give the same.
    void set_schedule(const std::string& collective, const std::string& json) {
        check(trefoil_comm_set_schedule(handle_, collective.c_str(), json.c_str()));
    }

    // The collectives. `all` has a block for each rank, in rank order, of equal lengths or of
    // counts[r] elements; those lie side by side, or displacements[r] elements from its beginning.

    /// recv[i] = op over all ranks of send[i].
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    void allreduce(const S& send, R&& recv, const Op& op = TREFOIL_SUM) {
        const std::size_t count = std::ranges::size(recv);
        lengths("allreduce").equal(send, count);
        const Reduction by = reduction_of<Element<R>>(op);
        check(trefoil_allreduce(input(send), output(recv), count, by.datatype, by.op, handle_));
    }
    /// In place.
    template <Writable R, ReductionOf<Element<R>> Op = trefoil_op_t>
    void allreduce(R&& values, const Op& op = TREFOIL_SUM) {
        allreduce(in_place, values, op);
    }
    /// Without types.
    void allreduce(const void* send, void* recv, std::size_t count, trefoil_datatype_t datatype,
                   trefoil_op_t op) {
        check(trefoil_allreduce(send, recv, count, datatype, op, handle_));
    }

    /// `recv` matters at the root only. In place at the root: the input is in `recv`.
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    void reduce(const S& send, R&& recv, int root, const Op& op = TREFOIL_SUM) {
        std::size_t count = std::ranges::size(recv);
        if constexpr (!IsInPlace<S>) {
            if (rank() == root) {
                lengths("reduce").equal(send, count);
            }
            count = std::ranges::size(send);
        }
        const Reduction by = reduction_of<Element<R>>(op);
        check(trefoil_reduce(input(send), output(recv), count, by.datatype, by.op, root, handle_));
    }

    /// Rank r receives the reduction of what ranks 0 ... r send.
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    void scan(const S& send, R&& recv, const Op& op = TREFOIL_SUM) {
        const std::size_t count = std::ranges::size(recv);
        lengths("scan").equal(send, count);
        const Reduction by = reduction_of<Element<R>>(op);
        check(trefoil_scan(input(send), output(recv), count, by.datatype, by.op, handle_));
    }
    /// The same without the own contribution. Rank 0 receives nothing, and gives a `recv` of the
    /// same length all the same.
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    void exscan(const S& send, R&& recv, const Op& op = TREFOIL_SUM) {
        const std::size_t count = std::ranges::size(recv);
        lengths("exscan").equal(send, count);
        const Reduction by = reduction_of<Element<R>>(op);
        check(trefoil_exscan(input(send), output(recv), count, by.datatype, by.op, handle_));
    }

    /// Rank r receives block r of the reduction of `all`. In place: all blocks are in `mine`, and
    /// the result is at its beginning.
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    void reduce_scatter(const S& all, R&& mine, const Op& op = TREFOIL_SUM) {
        const Lengths fit = lengths("reduce_scatter");
        const std::size_t count = IsInPlace<S> ? fit.block_of(mine) : std::ranges::size(mine);
        fit.equal(all, fit.of_all(count));
        const Reduction by = reduction_of<Element<R>>(op);
        check(trefoil_reduce_scatter_block(input(all), output(mine), count, by.datatype, by.op,
                                           handle_));
    }
    template <Writable R, SendOf<Element<R>> S, ReductionOf<Element<R>> Op = trefoil_op_t>
    void reduce_scatterv(const S& all, R&& mine, Counts counts, const Op& op = TREFOIL_SUM) {
        const Lengths fit = lengths("reduce_scatterv");
        if constexpr (IsInPlace<S>) {
            fit.room(std::ranges::size(mine), counts, {});
        } else {
            fit.room(std::ranges::size(all), counts, {});
            fit.equal(mine, counts[static_cast<std::size_t>(rank())]);
        }
        const Reduction by = reduction_of<Element<R>>(op);
        check(trefoil_reduce_scatter(input(all), output(mine), counts.data(), by.datatype, by.op,
                                     handle_));
    }

    /// In place: the own block is in `all` already.
    template <Writable R, SendOf<Element<R>> S>
    void allgather(const S& mine, R&& all) {
        const Lengths fit = lengths("allgather");
        const std::size_t count = fit.own_block(mine, all);
        fit.equal(all, fit.of_all(count));
        check(
            trefoil_allgather(input(mine), output(all), count, datatype_of<Element<R>>(), handle_));
    }
    template <Writable R, SendOf<Element<R>> S>
    void allgatherv(const S& mine, R&& all, Counts counts, Counts displacements = {}) {
        lengths("allgatherv").room(std::ranges::size(all), counts, displacements);
        check(trefoil_allgatherv(input(mine), length(mine), output(all), counts.data(),
                                 displacements.data(), datatype_of<Element<R>>(), handle_));
    }

    template <Writable R>
    void bcast(R&& buffer, int root) {
        check(trefoil_bcast(output(buffer), std::ranges::size(buffer), datatype_of<Element<R>>(),
                            root, handle_));
    }

    /// `all` matters at the root only, as do counts and displacements. In place at the root: its
    /// block is in `all` already.
    template <Writable R, SendOf<Element<R>> S>
    void gather(const S& mine, R&& all, int root) {
        const Lengths fit = lengths("gather");
        const std::size_t count = fit.own_block(mine, all);
        if (rank() == root) {
            fit.equal(all, fit.of_all(count));
        }
        check(trefoil_gather(input(mine), output(all), count, datatype_of<Element<R>>(), root,
                             handle_));
    }
    template <Writable R, SendOf<Element<R>> S>
    void gatherv(const S& mine, R&& all, Counts counts, int root, Counts displacements = {}) {
        if (rank() == root) {
            lengths("gatherv").room(std::ranges::size(all), counts, displacements);
        }
        check(trefoil_gatherv(input(mine), length(mine), output(all), counts.data(),
                              displacements.data(), datatype_of<Element<R>>(), root, handle_));
    }

    /// `all` matters at the root only, as do counts and displacements. In place at the root: its
    /// block stays in `all`.
    template <Readable S, ReceiveOf<Element<S>> R>
    void scatter(const S& all, R&& mine, int root) {
        const Lengths fit = lengths("scatter");
        const std::size_t count = fit.own_block(mine, all);
        if (rank() == root) {
            fit.equal(all, fit.of_all(count));
        }
        check(trefoil_scatter(input(all), output(mine), count, datatype_of<Element<S>>(), root,
                              handle_));
    }
    template <Readable S, ReceiveOf<Element<S>> R>
    void scatterv(const S& all, R&& mine, Counts counts, int root, Counts displacements = {}) {
        if (rank() == root) {
            lengths("scatterv").room(std::ranges::size(all), counts, displacements);
        }
        check(trefoil_scatterv(input(all), counts.data(), displacements.data(), output(mine),
                               length(mine), datatype_of<Element<S>>(), root, handle_));
    }

    /// Block r of `send` goes to rank r, block s of `recv` comes from rank s. In place: the blocks
    /// are in `recv`, and are replaced.
    template <Writable R, SendOf<Element<R>> S>
    void alltoall(const S& send, R&& recv) {
        const Lengths fit = lengths("alltoall");
        fit.equal(send, std::ranges::size(recv));
        check(trefoil_alltoall(input(send), output(recv), fit.block_of(recv),
                               datatype_of<Element<R>>(), handle_));
    }
    /// In place.
    template <Writable R>
    void alltoall(R&& blocks) {
        alltoall(in_place, blocks);
    }
    template <Writable R, Readable S>
    requires SendOf<S, Element<R>>
    void alltoallv(const S& send, Counts send_counts, R&& recv, Counts recv_counts,
                   Counts send_displacements = {}, Counts recv_displacements = {}) {
        const Lengths fit = lengths("alltoallv");
        fit.room(std::ranges::size(send), send_counts, send_displacements);
        fit.room(std::ranges::size(recv), recv_counts, recv_displacements);
        check(trefoil_alltoallv(input(send), send_counts.data(), send_displacements.data(),
                                output(recv), recv_counts.data(), recv_displacements.data(),
                                datatype_of<Element<R>>(), handle_));
    }
    /// In place: counts and displacements tell what is sent, too.
    template <Writable R>
    void alltoallv(InPlace, R&& blocks, Counts counts, Counts displacements = {}) {
        lengths("alltoallv").room(std::ranges::size(blocks), counts, displacements);
        check(trefoil_alltoallv(TREFOIL_IN_PLACE, nullptr, nullptr, output(blocks), counts.data(),
                                displacements.data(), datatype_of<Element<R>>(), handle_));
    }

    void barrier() { check(trefoil_barrier(handle_)); }

    /// For the C interface; stays owned.
    trefoil_comm_t handle() const { return handle_; }

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
    int number(trefoil_status_t (*get)(trefoil_comm_t, int*)) const {
        int value = 0;
        check(get(handle_, &value));
        return value;
    }
    std::string text(trefoil_status_t (*get)(trefoil_comm_t, const char**)) const {
        const char* value = nullptr;
        check(get(handle_, &value));
        return value;
    }

    trefoil_comm_t handle_ = nullptr;
};

}  // namespace trefoil
