// SPDX-License-Identifier: BSD-3-Clause
// The test data of `trefoil perf`: its results are exact in any order, and errors do show.
#include "bench/perf_pattern.hpp"

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
    const ReduceKernel kernel = reduce_kernels(type, operation).reduce;
    Bytes total;
    for (Rank i = 0; i < ranks; ++i) {
        const Rank rank = backwards ? ranks - 1 - i : i;
        const Bytes mine = filled(ExactPattern(type, operation, rank, ranks).input(), type, 5);
        if (total.empty()) {
            total = mine;
        } else {
            kernel(total.data(), mine.data(), elements);
        }
    }
    return total;
}

class EveryKind : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(EveryKind, is_exact_in_any_order) {
    const auto type = static_cast<DataType>(std::get<0>(GetParam()));
    const auto operation = static_cast<Operation>(std::get<1>(GetParam()));
    if (reduce_kernels(type, operation).reduce == nullptr) {
        GTEST_SKIP() << "makes no sense";
    }
    for (const Rank ranks : {1, 2, 9, 20}) {
        const ExactPattern pattern(type, operation, 0, ranks);
        for (const bool backwards : {false, true}) {
            const Bytes total = reduced(type, operation, ranks, backwards);
            EXPECT_EQ(pattern.result().count_different(total.data(), elements, 5), 0U)
                << to_string(type) << " " << to_string(operation) << " " << ranks;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Pattern, EveryKind,
                         testing::Combine(testing::Range(0, datatype_count),
                                          testing::Range(0, operation_count)));

TEST(Pattern, is_exact_for_more_ranks_than_a_bfloat16_counts) {
    constexpr Rank many = 600;
    EXPECT_EQ(ExactPattern(DataType::bfloat16, Operation::sum, 3, many)
                  .result()
                  .count_different(reduced(DataType::bfloat16, Operation::sum, many, false).data(),
                                   elements, 5),
              0U);
}

TEST(Pattern, counts_each_element_that_differs) {
    const ExactPattern pattern(DataType::float32, Operation::sum, 0, 9);
    Bytes data = filled(pattern.result(), DataType::float32, 1);
    for (const std::size_t at : {std::size_t{0}, std::size_t{1500}, elements - 1}) {
        const float wrong = 1e6F;
        std::memcpy(data.data() + 4 * at, &wrong, sizeof wrong);
    }
    EXPECT_EQ(pattern.result().count_different(data.data(), elements, 1), 3U);
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
    const ExactPattern pattern(type, Operation::sum, 0, ranks);
    const ReduceKernel add = reduce_kernels(type, Operation::sum).reduce;
    const Bytes one = filled(pattern.input(), type, 5);
    Bytes doubled = filled(pattern.result(), type, 5);
    add(doubled.data(), one.data(), elements);
    expect_visible(doubled, pattern.result(), type, 5);
    expect_visible(one, pattern.result(), type, 5);
    expect_visible(filled(pattern.result(), type, 4), pattern.result(), type, 5);
}

TEST(Pattern, shows_shifted_and_exchanged_blocks) {
    const auto type = DataType::int32;
    const ExactPattern pattern(type, Operation::sum, 0, 9);
    const Bytes right = filled(pattern.result(), type, 5);
    Bytes shifted(right.begin() + 4, right.end());
    expect_visible(shifted, pattern.result(), type, 5);
    std::size_t seen = 0;  // rows that are exchanged differ unless they are the same variant
    for (std::uint64_t salt = 1; salt <= 20; ++salt) {
        Bytes data = filled(pattern.result(), type, salt);
        const std::size_t row = 4 * ElementStream::period;
        std::swap_ranges(data.begin(), data.begin() + row, data.begin() + row);
        seen += pattern.result().count_different(data.data(), elements, salt) > 0 ? 1 : 0;
    }
    EXPECT_GE(seen, 15U);
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
                    add(total.data(), mine.data(), elements);
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
