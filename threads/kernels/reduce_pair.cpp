// SPDX-License-Identifier: BSD-3-Clause
// Minloc and maxloc on pairs of a value and an index: the best value, and the lowest index that
// came with it.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "threads/kernels/reduce_kernels.hpp"
#include "threads/kernels/reduce_real.hpp"

namespace trefoil::kernels {

namespace {

// The pairs as C lays them out, with the padding as a member: what a compiler leaves in padding is
// its own affair, but the results must be the same bits on every rank.
template <typename T>
struct Dense {
    T value;
    int index;
};

template <typename T>
struct PaddedAfter {
    T value;
    int index;
    int padding = 0;
};

template <typename T>
struct PaddedBetween {
    T value;
    T padding = 0;
    int index;
};

struct Minimum {
    template <typename T>
    static T apply(T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            return real::Minimum::apply(a, b);
        } else {
            return std::min(a, b);
        }
    }
};

struct Maximum {
    template <typename T>
    static T apply(T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            return real::Maximum::apply(a, b);
        } else {
            return std::max(a, b);
        }
    }
};

/// Value and index each depend on the set of inputs only, so that any order gives the same bits.
template <typename Best>
struct Locate {
    template <typename Pair>
    static Pair apply(Pair a, Pair b) {
        const auto best = Best::apply(a.value, b.value);
        const bool in_a = holds(a.value, best);
        const bool in_b = holds(b.value, best);
        const int of_one = in_a ? a.index : b.index;
        return {.value = best, .index = (in_a & in_b) ? std::min(a.index, b.index) : of_one};
    }

  private:
    /// Zeros of either sign are one value, and so are all NaN: the best when there is one.
    template <typename T>
    static bool holds(T value, T best) {
        return (value == best) | (value != value);
    }
};

/// `Pair` must be what a C program has under the type's name.
template <Instructions instructions, typename T, typename Pair>
constexpr Row make_row() {
    struct InC {
        T value;
        int index;
    };
    static_assert(sizeof(Pair) == sizeof(InC) && alignof(Pair) == alignof(InC) &&
                  offsetof(Pair, index) == offsetof(InC, index));
    Row row{};
    set(row, Operation::minloc, kernels_of<instructions, Plain<Pair, Locate<Minimum>>>());
    set(row, Operation::maxloc, kernels_of<instructions, Plain<Pair, Locate<Maximum>>>());
    return row;
}

template <typename T, typename Pair>
constexpr Table table = table_by_instructions([]<Instructions instructions>() {
    return make_row<instructions, T, Pair>();
});

using LongAndIndex = std::conditional_t<sizeof(long) == 8, PaddedAfter<long>, Dense<long>>;

}  // namespace

constexpr Table float_int = table<float, Dense<float>>;
constexpr Table double_int = table<double, PaddedAfter<double>>;
constexpr Table long_int = table<long, LongAndIndex>;
constexpr Table int_int = table<int, Dense<int>>;
constexpr Table short_int = table<short, PaddedBetween<short>>;

}  // namespace trefoil::kernels
