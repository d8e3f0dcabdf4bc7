// SPDX-License-Identifier: BSD-3-Clause
// Operations of the user's in the C++ wrapper: a function of two elements, owned.
#pragma once

#include <trefoil/elements.hpp>
#include <trefoil/errors.hpp>
#include <trefoil/lengths.hpp>

#include <concepts>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

namespace trefoil {

enum class Commutes : bool { no, yes };

/// An operation on any trivially copyable type of any alignment up to 64, for reductions of
/// elements of that type. All ranks create the same ones. Not to be destroyed while a call uses it.
template <typename T>
requires std::is_trivially_copyable_v<T>
class Operation {
  public:
    /// `combine`(in, inout), where `in` comes from lower ranks, gives the result. It must be
    /// associative and must not throw or call Trefoil; several threads may run it at the same time.
    template <std::regular_invocable<const T&, const T&> Combine>
    Operation(Combine combine, Commutes commutes)
        : function_(new Combine(std::move(combine)),
                    [](void* function) { delete static_cast<Combine*>(function); }) {
        check(trefoil_op_create(&run<Combine>, function_.get(), sizeof(T),
                                commutes == Commutes::yes ? 1 : 0, &handle_));
    }
    ~Operation() {
        if (function_ != nullptr) {
            trefoil_op_free(handle_);
        }
    }
    Operation(Operation&& other) noexcept
        : function_(std::move(other.function_)), handle_(other.handle_) {}
    Operation& operator=(Operation&& other) noexcept {
        std::swap(function_, other.function_);
        std::swap(handle_, other.handle_);
        return *this;
    }

    /// For calls of the C interface, with TREFOIL_ELEMENT; stays owned.
    trefoil_op_t handle() const noexcept { return handle_; }

  private:
    template <typename Combine>
    static void run(const void* in, void* inout, std::size_t count, void* function) noexcept {
        const Combine& combine = *static_cast<const Combine*>(function);
        const T* const left = static_cast<const T*>(in);
        T* const right = static_cast<T*>(inout);
        for (std::size_t i = 0; i < count; ++i) {
            right[i] = combine(left[i], right[i]);
        }
    }

    std::unique_ptr<void, void (*)(void*)> function_;
    trefoil_op_t handle_{};
};

/// Datatype and operation of a reduction.
struct Reduction {
    trefoil_datatype_t datatype;
    trefoil_op_t op;
};

/// An operation such as TREFOIL_SUM, or an Operation on these elements.
template <typename Op, typename T>
concept ReductionOf = std::same_as<Op, trefoil_op_t> || std::same_as<Op, Operation<T>>;

template <typename T>
constexpr Reduction reduction_of(trefoil_op_t op) {
    return {datatype_of<T>(), op};
}
template <typename T>
Reduction reduction_of(const Operation<T>& operation) {
    return {TREFOIL_ELEMENT, operation.handle()};
}

/// On this rank alone: inout[i] = in[i] op inout[i].
template <Writable R, Readable S, ReductionOf<Element<R>> Op = trefoil_op_t>
requires SendOf<S, Element<R>>
void reduce_local(const S& in, R&& inout, const Op& op = TREFOIL_SUM) {
    const std::size_t count = std::ranges::size(inout);
    Lengths("reduce_local", 1).equal(in, count);
    const Reduction by = reduction_of<Element<R>>(op);
    check(trefoil_reduce_local(std::ranges::data(in), std::ranges::data(inout), count, by.datatype,
                               by.op));
}

}  // namespace trefoil
