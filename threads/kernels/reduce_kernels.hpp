// SPDX-License-Identifier: BSD-3-Clause
// The two loops from which every reduction kernel is made, for each instruction set, and the tables
// that the families of types provide. Private to threads/reduce*.cpp.
#pragma once

#include <array>
#include <cstddef>

#include "threads/kernels/reduce.hpp"

// What best_of_processor() in reduce.cpp looks for. An attribute takes nothing but literals, and
// compilers spell Arm's differently.
#define TREFOIL_AVX2 gnu::target("avx2,f16c")
#define TREFOIL_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl,f16c")
#define TREFOIL_AVX512_FP16 gnu::target("avx512fp16,avx512f,avx512bw,avx512dq,avx512vl,f16c")
#if defined(__clang__)
#define TREFOIL_NEON_FP16 gnu::target("fullfp16")
#define TREFOIL_SVE gnu::target("sve,fullfp16")
#else
#define TREFOIL_NEON_FP16 gnu::target("+fp16")
#define TREFOIL_SVE gnu::target("+sve")
#endif

namespace trefoil::kernels {

/// One element type's kernels, indexed by Operation.
using Row = std::array<ReduceKernels, operation_count>;

/// All of them, for each instruction set.
struct Table {
    std::array<Row, instructions_count> rows;
};

extern const Table int8, int16, int32, int64, uint8, uint16, uint32, uint64;  // reduce_integer.cpp
extern const Table float16, bfloat16;                                         // reduce_half.cpp
extern const Table float32, float64, complex_float, complex_double;           // reduce_real.cpp
extern const Table float_int, double_int, long_int, int_int, short_int;       // reduce_pair.cpp

// Elements do not depend on each other, even where the target is one of the sources: what a loop
// writes it has read before. Compilers would otherwise look for overlaps first, and leave a loop
// whose target is a source as it is.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // it asks for vectors, which some loops lack
#define TREFOIL_NO_DEPENDENCES _Pragma("clang loop vectorize(assume_safety)")
#else
#define TREFOIL_NO_DEPENDENCES _Pragma("GCC ivdep")
#endif

// The loops. `Width` values make one element: complex sums are sums of twice as many values. Always
// inlined, so that each is compiled for the instructions of the function it stands in.
template <typename T, typename Combine, std::size_t Width = 1>
[[gnu::always_inline]] inline void reduce(void* target, const void* first, const void* second,
                                          std::size_t count) {
    T* to = static_cast<T*>(target);
    const T* one = static_cast<const T*>(first);
    const T* two = static_cast<const T*>(second);
    const std::size_t values = count * Width;
    TREFOIL_NO_DEPENDENCES
    for (std::size_t i = 0; i < values; ++i) {
        to[i] = Combine::apply(one[i], two[i]);
    }
}

template <typename T, typename Combine, std::size_t Width = 1>
[[gnu::always_inline]] inline void joint(void* target, const void* first, const void* second,
                                         const void* third, std::size_t count) {
    T* to = static_cast<T*>(target);
    const T* one = static_cast<const T*>(first);
    const T* two = static_cast<const T*>(second);
    const T* three = static_cast<const T*>(third);
    const std::size_t values = count * Width;
    TREFOIL_NO_DEPENDENCES
    for (std::size_t i = 0; i < values; ++i) {
        to[i] = Combine::apply(Combine::apply(one[i], two[i]), three[i]);
    }
}

/// For operations whose joint loop compilers do not vectorise: two passes over a block that stays
/// in the first-level cache between them.
template <typename T, typename Combine>
[[gnu::always_inline]] inline void joint_in_blocks(void* target, const void* first,
                                                   const void* second, const void* third,
                                                   std::size_t count) {
    constexpr std::size_t block = 4096 / sizeof(T);
    T* to = static_cast<T*>(target);
    const T* one = static_cast<const T*>(first);
    const T* two = static_cast<const T*>(second);
    const T* three = static_cast<const T*>(third);
    for (std::size_t begin = 0; begin < count; begin += block) {
        const std::size_t size = count - begin < block ? count - begin : block;
        reduce<T, Combine>(to + begin, one + begin, two + begin, size);
        reduce<T, Combine>(to + begin, to + begin, three + begin, size);
    }
}

/// A pair of loops, to be compiled for some instructions.
template <typename T, typename Combine, std::size_t Width = 1>
struct Plain {
    [[gnu::always_inline]] static void one(void* target, const void* first, const void* second,
                                           std::size_t count) {
        reduce<T, Combine, Width>(target, first, second, count);
    }
    [[gnu::always_inline]] static void both(void* target, const void* first, const void* second,
                                            const void* third, std::size_t count) {
        joint<T, Combine, Width>(target, first, second, third, count);
    }
};

template <typename T, typename Combine>
struct Blocked : Plain<T, Combine> {
    [[gnu::always_inline]] static void both(void* target, const void* first, const void* second,
                                            const void* third, std::size_t count) {
        joint_in_blocks<T, Combine>(target, first, second, third, count);
    }
};

// The same loops for each of the instruction sets. Only these functions are compiled for more than
// the baseline, not whole files: an inline function of the standard library that was, too, might be
// the copy that the linker keeps for everybody.
template <Instructions instructions>
struct Compiled {
    template <typename Loops>
    static void one(void* target, const void* first, const void* second, std::size_t count) {
        Loops::one(target, first, second, count);
    }
    template <typename Loops>
    static void both(void* target, const void* first, const void* second, const void* third,
                     std::size_t count) {
        Loops::both(target, first, second, third, count);
    }
};

#if defined(__x86_64__)
template <>
struct Compiled<Instructions::avx2> {
    template <typename Loops>
    [[TREFOIL_AVX2]] static void one(void* target, const void* first, const void* second,
                                     std::size_t count) {
        Loops::one(target, first, second, count);
    }
    template <typename Loops>
    [[TREFOIL_AVX2]] static void both(void* target, const void* first, const void* second,
                                      const void* third, std::size_t count) {
        Loops::both(target, first, second, third, count);
    }
};

template <>
struct Compiled<Instructions::avx512> {
    template <typename Loops>
    [[TREFOIL_AVX512]] static void one(void* target, const void* first, const void* second,
                                       std::size_t count) {
        Loops::one(target, first, second, count);
    }
    template <typename Loops>
    [[TREFOIL_AVX512]] static void both(void* target, const void* first, const void* second,
                                        const void* third, std::size_t count) {
        Loops::both(target, first, second, third, count);
    }
};

template <>
struct Compiled<Instructions::avx512_fp16> {
    template <typename Loops>
    [[TREFOIL_AVX512_FP16]] static void one(void* target, const void* first, const void* second,
                                            std::size_t count) {
        Loops::one(target, first, second, count);
    }
    template <typename Loops>
    [[TREFOIL_AVX512_FP16]] static void both(void* target, const void* first, const void* second,
                                             const void* third, std::size_t count) {
        Loops::both(target, first, second, third, count);
    }
};
#elif defined(__aarch64__)
template <>
struct Compiled<Instructions::neon_fp16> {
    template <typename Loops>
    [[TREFOIL_NEON_FP16]] static void one(void* target, const void* first, const void* second,
                                          std::size_t count) {
        Loops::one(target, first, second, count);
    }
    template <typename Loops>
    [[TREFOIL_NEON_FP16]] static void both(void* target, const void* first, const void* second,
                                           const void* third, std::size_t count) {
        Loops::both(target, first, second, third, count);
    }
};

template <>
struct Compiled<Instructions::sve> {
    template <typename Loops>
    [[TREFOIL_SVE]] static void one(void* target, const void* first, const void* second,
                                    std::size_t count) {
        Loops::one(target, first, second, count);
    }
    template <typename Loops>
    [[TREFOIL_SVE]] static void both(void* target, const void* first, const void* second,
                                     const void* third, std::size_t count) {
        Loops::both(target, first, second, third, count);
    }
};
#endif

template <Instructions instructions, typename Loops>
constexpr ReduceKernels kernels_of() {
    return {&Compiled<instructions>::template one<Loops>,
            &Compiled<instructions>::template both<Loops>};
}

/// A type's row for each of the sets; make_row<instructions>(). Nobody but float16 gains by its
/// arithmetic, so the others share what they have for the set before.
template <typename MakeRow>
constexpr Table table_by_instructions(MakeRow make_row) {
    const Row baseline = make_row.template operator()<Instructions::baseline>();
#if defined(__x86_64__)
    const Row avx512 = make_row.template operator()<Instructions::avx512>();
    return {{baseline, make_row.template operator()<Instructions::avx2>(), avx512, avx512}};
#elif defined(__aarch64__)
    return {{baseline, baseline, make_row.template operator()<Instructions::sve>()}};
#else
    return {{baseline}};
#endif
}

constexpr void set(Row& row, Operation operation, ReduceKernels kernels) {
    row[static_cast<std::size_t>(operation)] = kernels;
}

}  // namespace trefoil::kernels
