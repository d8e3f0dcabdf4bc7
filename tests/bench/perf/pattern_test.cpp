// SPDX-License-Identifier: BSD-3-Clause
// The test data of `trefoil perf`: its results are exact in any order, and errors do show.
#include "bench/perf/pattern.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace trefoil::tool {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t elements = 3 * ElementStream::period + 17;

Bytes filled(const ElementStream& stream, DataType type, std::uint64_t salt,
             std::size_t count = elements) {
    Bytes data(count * size_of(type));
    stream.fill(data.data(), count, salt);
    return data;
}

/// All ranks' inputs combined by the library's kernel: first to last, or last to first.
Bytes reduced(DataType type, Operation operation, Rank ranks, bool backwards) {
    const ReduceKernels kernels = reduce_kernels(type, operation);
    Bytes total;
    for (Rank i = 0; i < ranks; ++i) {
        const Rank rank = backwards ? ranks - 1 - i : i;
        const Bytes mine = filled(exact_input(type, operation, rank, ranks), type, 5);
        if (total.empty()) {
            total = mine;
        } else {
            kernels.reduce(total.data(), total.data(), mine.data(), elements);
        }
    }
    if (kernels.divide != nullptr) {
        kernels.divide(total.data(), elements, static_cast<std::uint32_t>(ranks));
    }
    return total;
}

using Kind = std::pair<DataType, Operation>;

std::vector<Kind> kinds_that_make_sense() {
    std::vector<Kind> kinds;
    for (int i = 0; i < datatype_count * operation_count; ++i) {
        const Kind kind{static_cast<DataType>(i / operation_count),
                        static_cast<Operation>(i % operation_count)};
        if (reduce_kernels(kind.first, kind.second).reduce != nullptr) {
            kinds.push_back(kind);
        }
    }
    return kinds;
}

TEST(Pattern, is_exact_in_any_order) {
    const std::vector<Kind> kinds = kinds_that_make_sense();
    EXPECT_GT(kinds.size(), 100U);
    for (const auto& [type, operation] : kinds) {
        for (const auto& [ranks, backwards] :
             {std::pair<Rank, bool>{1, false}, {9, false}, {20, true}}) {
            const Bytes total = reduced(type, operation, ranks, backwards);
            EXPECT_EQ(
                exact_result(type, operation, ranks).count_different(total.data(), elements, 5), 0U)
                << to_string(type) << " " << to_string(operation) << " " << ranks;
        }
    }
}

TEST(Pattern, is_exact_for_more_ranks_than_a_bfloat16_counts) {
    constexpr Rank many = 600;
    const Bytes total = reduced(DataType::bfloat16, Operation::sum, many, false);
    EXPECT_EQ(exact_result(DataType::bfloat16, Operation::sum, many)
                  .count_different(total.data(), elements, 5),
              0U);
}

TEST(Pattern, counts_each_element_that_differs) {
    const ElementStream result = exact_result(DataType::float32, Operation::sum, 9);
    Bytes data = filled(result, DataType::float32, 1);
    for (const std::size_t at : {std::size_t{0}, std::size_t{1500}, elements - 1}) {
        const float wrong = 1e6F;
        std::memcpy(data.data() + 4 * at, &wrong, sizeof wrong);
    }
    EXPECT_EQ(result.count_different(data.data(), elements, 1), 3U);
}

TEST(Pattern, takes_zeros_of_either_sign_as_equal) {
    ElementStream stream(DataType::float32);  // zeros
    const std::vector<float> negative(100, -0.0F);
    EXPECT_EQ(stream.count_different(negative.data(), negative.size(), 1), 0U);
}

/// Most elements must differ, or an error might hide: here more than half of them.
void expect_visible(const Bytes& data, const ElementStream& expected, DataType type,
                    std::uint64_t salt) {
    const std::size_t count = data.size() / size_of(type);
    EXPECT_GT(expected.count_different(data.data(), count, salt), count / 2);
}

TEST(Pattern, shows_a_missing_a_doubled_and_a_stale_contribution) {
    constexpr Rank ranks = 9;
    const auto type = DataType::int32;
    const ElementStream result = exact_result(type, Operation::sum, ranks);
    const ReduceKernel add = reduce_kernels(type, Operation::sum).reduce;
    const Bytes one = filled(exact_input(type, Operation::sum, 0, ranks), type, 5);
    Bytes doubled = filled(result, type, 5);
    add(doubled.data(), doubled.data(), one.data(), elements);
    expect_visible(doubled, result, type, 5);
    expect_visible(one, result, type, 5);
    expect_visible(filled(result, type, 4), result, type, 5);
}

TEST(Pattern, shows_shifted_and_exchanged_blocks) {
    const auto type = DataType::int32;
    const ElementStream result = exact_result(type, Operation::sum, 9);
    const Bytes right = filled(result, type, 5);
    Bytes shifted(right.begin() + 4, right.end());
    expect_visible(shifted, result, type, 5);
    std::size_t seen = 0;  // rows that are exchanged differ unless they are the same variant
    for (std::uint64_t salt = 1; salt <= 20; ++salt) {
        Bytes data = filled(result, type, salt);
        const std::size_t row = 4 * ElementStream::period;
        std::swap_ranges(data.begin(), data.begin() + row, data.begin() + row);
        seen += result.count_different(data.data(), elements, salt) > 0 ? 1 : 0;
    }
    EXPECT_GE(seen, 15U);
}

TEST(Pattern, of_pairs_shows_missing_contributions_and_padding) {
    for (const DataType type : {DataType::float_int, DataType::double_int, DataType::long_int,
                                DataType::int_int, DataType::short_int}) {
        const ElementStream result = exact_result(type, Operation::maxloc, 4);
        expect_visible(filled(exact_input(type, Operation::maxloc, 0, 4), type, 5), result, type,
                       5);
        expect_visible(filled(result, type, 4), result, type, 5);
        Bytes padded = filled(result, type, 5);
        if (type == DataType::double_int) {
            padded.back() ^= std::byte{1};
            EXPECT_EQ(result.count_different(padded.data(), elements, 5), 1U);
        }
        const ElementStream moved = exact_input(type, Operation::bitwise_xor, 0, 1);
        Bytes shifted = filled(moved, type, 5, elements + 1);
        shifted.erase(shifted.begin(), shifted.begin() + static_cast<long>(size_of(type)));
        expect_visible(shifted, moved, type, 5);
    }
}

TEST(Pattern, mixed_magnitudes_show_the_order_of_a_sum) {
    for (const DataType type : {DataType::float16, DataType::bfloat16, DataType::float32,
                                DataType::float64, DataType::complex_float}) {
        const ReduceKernel add = reduce_kernels(type, Operation::sum).reduce;
        std::set<std::uint64_t> hashes;
        for (const bool backwards : {false, true}) {
            Bytes total;
            for (Rank i = 0; i < 9; ++i) {
                const Rank rank = backwards ? 8 - i : i;
                const Bytes mine = filled(mixed_magnitudes(type, Operation::sum, rank, 9), type, 5);
                if (total.empty()) {
                    total = mine;
                } else {
                    add(total.data(), total.data(), mine.data(), elements);
                }
            }
            hashes.insert(hash_bytes(total.data(), total.size()));
        }
        EXPECT_EQ(hashes.size(), 2U) << to_string(type);
    }
}

TEST(Pattern, hash_sees_every_byte) {
    Bytes data(37);
    std::set<std::uint64_t> hashes{hash_bytes(data.data(), data.size())};
    for (std::byte& b : data) {
        b = std::byte{1};
        hashes.insert(hash_bytes(data.data(), data.size()));
    }
    EXPECT_EQ(hashes.size(), data.size() + 1);
}

}  // namespace
}  // namespace trefoil::tool
