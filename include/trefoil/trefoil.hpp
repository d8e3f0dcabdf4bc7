// SPDX-License-Identifier: BSD-3-Clause
// Trefoil for C++20: the C interface with owned handles, spans, element types that deduce
// themselves, and exceptions. Header only.
#pragma once

#include <trefoil/trefoil.h>

#include <complex>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace trefoil {

/// A call that did not succeed. what() is the library's message: what happened and what to do.
class CallFailed : public std::runtime_error {
  public:
    CallFailed(trefoil_status_t status, const std::string& message)
        : std::runtime_error(message), status_(status) {}
    trefoil_status_t status() const noexcept { return status_; }

  private:
    trefoil_status_t status_;
};

/// Throws CallFailed with this thread's last error unless `status` is success.
inline void check(trefoil_status_t status) {
    if (status != TREFOIL_SUCCESS) {
        const std::string message = trefoil_last_error(nullptr);
        throw CallFailed(status, message.empty() ? trefoil_status_string(status) : message);
    }
}

/// An element of TREFOIL_MINLOC and TREFOIL_MAXLOC: of equal values the lowest index wins. T is
/// float, double, long, int or short.
template <typename T>
struct ValueIndex {
    T value;
    int index;
    friend bool operator==(const ValueIndex&, const ValueIndex&) = default;
};

template <typename T>
inline constexpr bool is_pair_type =
    std::is_same_v<T, ValueIndex<float>> || std::is_same_v<T, ValueIndex<double>> ||
    std::is_same_v<T, ValueIndex<long>> || std::is_same_v<T, ValueIndex<int>> ||
    std::is_same_v<T, ValueIndex<short>>;

template <typename T>
inline constexpr bool is_element_type = (std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                         sizeof(T) <= 8) ||
                                        std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                        std::is_same_v<T, std::complex<float>> ||
                                        std::is_same_v<T, std::complex<double>> || is_pair_type<T>;

/// The datatype of a C++ type. float16 and bfloat16 have none: use the untyped allreduce.
template <typename T>
constexpr trefoil_datatype_t datatype_of() {
    static_assert(
        is_element_type<T>,
        "Trefoil reduces integers, float, double, their complex, and ValueIndex of float, "
        "double, long, int or short");
    if constexpr (std::is_same_v<T, float>) {
        return TREFOIL_FLOAT;
    } else if constexpr (std::is_same_v<T, double>) {
        return TREFOIL_DOUBLE;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
        return TREFOIL_COMPLEX_FLOAT;
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
        return TREFOIL_COMPLEX_DOUBLE;
    } else if constexpr (is_pair_type<T>) {
        using Value = decltype(T::value);
        return std::is_same_v<Value, float>    ? TREFOIL_FLOAT_INT
               : std::is_same_v<Value, double> ? TREFOIL_DOUBLE_INT
               : std::is_same_v<Value, long>   ? TREFOIL_LONG_INT
               : std::is_same_v<Value, int>    ? TREFOIL_2INT
                                               : TREFOIL_SHORT_INT;
    } else {
        constexpr int by_size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return static_cast<trefoil_datatype_t>(
            by_size + (std::is_signed_v<T> ? TREFOIL_INT8 : TREFOIL_UINT8));
    }
}

/// Owns a communicator. The thread rules, and that all ranks make the same calls in the same order,
/// are those of trefoil.h; every function throws CallFailed.
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

    /// The sizes of the torus's dimensions.
    std::vector<int> torus() const {
        int dimensions = 0;
        check(trefoil_comm_torus(handle_, &dimensions, nullptr, 0));
        std::vector<int> sizes(static_cast<std::size_t>(dimensions));
        check(trefoil_comm_torus(handle_, &dimensions, sizes.data(), dimensions));
        return sizes;
    }

    /// A rank's place in the torus, one coordinate per dimension.
    std::vector<int> coordinates(int rank) const {
        std::vector<int> place = torus();
        check(
            trefoil_comm_coordinates(handle_, rank, place.data(), static_cast<int>(place.size())));
        return place;
    }

    void set_algorithm(const std::string& collective, const std::string& name) {
        check(trefoil_comm_set_algorithm(handle_, collective.c_str(), name.c_str()));
    }

    /// recv[i] = op over all ranks of send[i].
    template <typename T>
    void allreduce(std::span<const T> send, std::span<T> recv, trefoil_op_t op = TREFOIL_SUM) {
        require_length("allreduce", recv.size(), send.size());
        allreduce(send.data(), recv.data(), recv.size(), datatype_of<T>(), op);
    }

    /// In place.
    template <typename T>
    void allreduce(std::span<T> values, trefoil_op_t op = TREFOIL_SUM) {
        allreduce(TREFOIL_IN_PLACE, values.data(), values.size(), datatype_of<T>(), op);
    }

    /// For types that C++ has no name for.
    void allreduce(const void* send, void* recv, std::size_t count, trefoil_datatype_t datatype,
                   trefoil_op_t op) {
        check(trefoil_allreduce(send, recv, count, datatype, op, handle_));
    }

    // The other collectives, typed. In spans of "all" every rank has a block of equal length, in
    // rank order; recv of reduce and gather, and send of scatter, matter at the root only.

    template <typename T>
    void reduce(std::span<const T> send, std::span<T> recv, int root,
                trefoil_op_t op = TREFOIL_SUM) {
        if (rank() == root) {
            require_length("reduce", recv.size(), send.size());
        }
        check(trefoil_reduce(send.data(), recv.data(), send.size(), datatype_of<T>(), op, root,
                             handle_));
    }

    template <typename T>
    void bcast(std::span<T> buffer, int root) {
        check(trefoil_bcast(buffer.data(), buffer.size(), datatype_of<T>(), root, handle_));
    }

    template <typename T>
    void reduce_scatter(std::span<const T> all, std::span<T> mine, trefoil_op_t op = TREFOIL_SUM) {
        require_length("reduce_scatter", all.size(), mine.size() * ranks());
        check(trefoil_reduce_scatter_block(all.data(), mine.data(), mine.size(), datatype_of<T>(),
                                           op, handle_));
    }

    template <typename T>
    void allgather(std::span<const T> mine, std::span<T> all) {
        require_length("allgather", all.size(), mine.size() * ranks());
        check(trefoil_allgather(mine.data(), all.data(), mine.size(), datatype_of<T>(), handle_));
    }

    template <typename T>
    void gather(std::span<const T> mine, std::span<T> all, int root) {
        if (rank() == root) {
            require_length("gather", all.size(), mine.size() * ranks());
        }
        check(
            trefoil_gather(mine.data(), all.data(), mine.size(), datatype_of<T>(), root, handle_));
    }

    template <typename T>
    void scatter(std::span<const T> all, std::span<T> mine, int root) {
        if (rank() == root) {
            require_length("scatter", all.size(), mine.size() * ranks());
        }
        check(
            trefoil_scatter(all.data(), mine.data(), mine.size(), datatype_of<T>(), root, handle_));
    }

    /// Block r of `send` goes to rank r, block s of `recv` comes from rank s.
    template <typename T>
    void alltoall(std::span<const T> send, std::span<T> recv) {
        require_length("alltoall", recv.size(), send.size());
        require_length("alltoall", recv.size() / ranks() * ranks(), recv.size());
        check(trefoil_alltoall(send.data(), recv.data(), recv.size() / ranks(), datatype_of<T>(),
                               handle_));
    }

    /// In place.
    template <typename T>
    void alltoall(std::span<T> blocks) {
        require_length("alltoall", blocks.size() / ranks() * ranks(), blocks.size());
        check(trefoil_alltoall(TREFOIL_IN_PLACE, blocks.data(), blocks.size() / ranks(),
                               datatype_of<T>(), handle_));
    }

    /// Blocks of different sizes, side by side in rank order: counts are by rank.
    template <typename T>
    void alltoallv(std::span<const T> send, std::span<const std::size_t> send_counts,
                   std::span<T> recv, std::span<const std::size_t> recv_counts) {
        require_lists("alltoallv", send.size(), send_counts);
        require_lists("alltoallv", recv.size(), recv_counts);
        check(trefoil_alltoallv(send.data(), send_counts.data(), nullptr, recv.data(),
                                recv_counts.data(), nullptr, datatype_of<T>(), handle_));
    }

    void barrier() { check(trefoil_barrier(handle_)); }

    /// For calls that this class does not wrap; stays owned by it.
    trefoil_comm_t handle() const { return handle_; }

  private:
    std::size_t ranks() const { return static_cast<std::size_t>(size()); }
    static void require_length(const char* call, std::size_t given, std::size_t needed) {
        if (given != needed) {
            throw CallFailed(TREFOIL_ERROR_INVALID_ARGUMENT,
                             std::string(call) + ": the spans do not fit: one has " +
                                 std::to_string(given) + " elements, but the other needs " +
                                 std::to_string(needed));
        }
    }
    void require_lists(const char* call, std::size_t elements,
                       std::span<const std::size_t> counts) const {
        require_length(call, counts.size(), ranks());
        require_length(call, elements,
                       std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
    }
    int number(trefoil_status_t (*get)(trefoil_comm_t, int*)) const {
        int value = 0;
        check(get(handle_, &value));
        return value;
    }

    trefoil_comm_t handle_ = nullptr;
};

}  // namespace trefoil
