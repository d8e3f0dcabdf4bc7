// SPDX-License-Identifier: BSD-3-Clause
// The end of an average: division by the number of ranks, against plain arithmetic.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "reduce_reference.hpp"

namespace trefoil {
namespace {

constexpr std::array<std::uint32_t, 7> numbers_of_ranks{1, 2, 3, 9, 127, 300, 1'000'003};

template <typename T>
void expect_truncated(DataType type) {
    using Limits = std::numeric_limits<T>;
    const std::vector<T> values{
        Limits::min(), static_cast<T>(Limits::min() + 1), static_cast<T>(-7), T{0}, T{1}, T{26},
        Limits::max()};
    for (const std::uint32_t ranks : numbers_of_ranks) {
        std::vector<T> divided = values;
        divide_kernel(type)(divided.data(), divided.size(), ranks);
        for (std::size_t i = 0; i < values.size(); ++i) {
            __extension__ using Exact = __int128;  // truncates towards zero
            EXPECT_EQ(divided[i], static_cast<T>(static_cast<Exact>(values[i]) / Exact{ranks}))
                << to_string(type) << " / " << ranks;
        }
    }
}

TEST(Divide, TruncatesIntegersTowardsZeroForMoreRanksThanTheTypeHolds) {
    expect_truncated<std::int8_t>(DataType::int8);
    expect_truncated<std::int16_t>(DataType::int16);
    expect_truncated<std::int32_t>(DataType::int32);
    expect_truncated<std::int64_t>(DataType::int64);
    expect_truncated<std::uint8_t>(DataType::uint8);
    expect_truncated<std::uint16_t>(DataType::uint16);
    expect_truncated<std::uint32_t>(DataType::uint32);
    expect_truncated<std::uint64_t>(DataType::uint64);
}

TEST(Divide, DividesEveryPatternOfTheHalfTypesInFloat) {
    for (const auto& [type, format] : {std::pair{DataType::float16, reference::float16},
                                       std::pair{DataType::bfloat16, reference::bfloat16}}) {
        for (const std::uint32_t ranks : numbers_of_ranks) {
            std::vector<std::uint16_t> all(65536);
            for (std::size_t i = 0; i < all.size(); ++i) {
                all[i] = static_cast<std::uint16_t>(i);
            }
            divide_kernel(type)(all.data(), all.size(), ranks);
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto value =
                    static_cast<float>(reference::decode(format, static_cast<std::uint16_t>(i)));
                ASSERT_EQ(all[i], reference::encode(format, value / static_cast<float>(ranks)))
                    << to_string(type) << " " << i << " / " << ranks;
            }
        }
    }
}

TEST(Divide, DividesBothPartsOfAComplexNumber) {
    std::vector<std::complex<float>> narrow{{1, -2}, {0.1F, 1e30F}};
    std::vector<std::complex<double>> wide{{1, -2}, {0.1, 1e300}};
    divide_kernel(DataType::complex_float)(narrow.data(), narrow.size(), 3);
    divide_kernel(DataType::complex_double)(wide.data(), wide.size(), 3);
    EXPECT_EQ(narrow[0], std::complex<float>(1.0F / 3, -2.0F / 3));
    EXPECT_EQ(narrow[1], std::complex<float>(0.1F / 3, 1e30F / 3));
    EXPECT_EQ(wide[0], std::complex<double>(1.0 / 3, -2.0 / 3));
    EXPECT_EQ(wide[1], std::complex<double>(0.1 / 3, 1e300 / 3));
}

TEST(Divide, IsThereWhereAnAverageIs) {
    for (int t = 0; t < datatype_count; ++t) {
        const auto type = static_cast<DataType>(t);
        const ReduceKernels average = reduce_kernels(type, Operation::average);
        EXPECT_EQ(average.reduce, reduce_kernels(type, Operation::sum).reduce);
        EXPECT_EQ(average.divide != nullptr, average.reduce != nullptr) << to_string(type);
        EXPECT_EQ(reduce_kernels(type, Operation::sum).divide, nullptr);
    }
    EXPECT_NE(refusal(DataType::float_int, Operation::average).find("avg makes no sense"),
              std::string::npos);
}

}  // namespace
}  // namespace trefoil
