// SPDX-License-Identifier: BSD-3-Clause
// Test data whose reduced result is known exactly, for every type and operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "threads/kernels/reduce.hpp"
#include "topo/torus.hpp"

namespace trefoil::tool {

/// A stream of elements, made of rows of a prime length, each row one of a few variants; where the
/// stream starts and which variants follow depends on a salt, so that results of an earlier call,
/// shifted blocks and swapped blocks all show.
class ElementStream {
  public:
    static constexpr std::size_t period = 1021;
    static constexpr std::size_t variants = 8;

    explicit ElementStream(DataType type);
    /// The table's element j of a variant; `size_of(type)` bytes.
    std::byte* element(std::size_t variant, std::size_t j);

    void fill(void* target, std::size_t count, std::uint64_t salt) const;
    /// How many elements differ from what fill() writes. Zeros are equal whatever their sign.
    std::size_t count_different(const void* data, std::size_t count, std::uint64_t salt) const;

  private:
    template <typename Visit>
    void for_each_row(std::size_t count, std::uint64_t salt, Visit&& visit) const;
    std::size_t count_in_row(const std::byte* data, const std::byte* expected,
                             std::size_t count) const;

    DataType type_;
    std::size_t size_;
    std::vector<std::byte> table_;
};

/// What a rank contributes, and the result over the first `contributors` ranks. Every partial
/// result, in any order of the ranks, is exactly representable in the type, so there is one right
/// answer. `contributors` is positive.
ElementStream exact_input(DataType type, Operation operation, Rank rank, Rank ranks);
ElementStream exact_result(DataType type, Operation operation, Rank ranks, Rank contributors);
inline ElementStream exact_result(DataType type, Operation operation, Rank ranks) {
    return exact_result(type, operation, ranks, ranks);
}

/// One rank's input of floating-point numbers of both signs whose magnitudes differ by 2^20 (2^12
/// for float16): the bits of a reduction show in which order it was done. Not for integers.
ElementStream mixed_magnitudes(DataType type, Operation operation, Rank rank, Rank ranks);

/// A hash of all bits.
std::uint64_t hash_bytes(const void* data, std::size_t bytes);

}  // namespace trefoil::tool
