// SPDX-License-Identifier: BSD-3-Clause
// Conversions between float and the 16-bit floats: all 65536 patterns, and every way to round.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tests/threads/kernels/reduce_reference.hpp"

namespace {

struct Conversions {
    const char* name;
    reference::HalfFormat format;
    float (*widen)(std::uint16_t);
    std::uint16_t (*narrow)(float);
};

class Half : public testing::TestWithParam<Conversions> {};

TEST_P(Half, widens_every_pattern_exactly) {
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const double expected = reference::decode(GetParam().format, half);
        const float value = GetParam().widen(half);
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(value) : value == expected) << bits;
        ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    }
}

TEST_P(Half, returns_every_pattern) {
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const float value = GetParam().widen(half);
        if (std::isnan(value)) {
            ASSERT_TRUE(std::isnan(GetParam().widen(GetParam().narrow(value)))) << bits;
        } else {
            ASSERT_EQ(GetParam().narrow(value), half);
        }
    }
}

// Around every number: the middle to its successor, and the floats next to the middle.
TEST_P(Half, rounds_to_nearest_even) {
    const int infinity = 0x7fff & ~((1 << GetParam().format.fraction_bits) - 1);
    for (int bits = 0; bits < infinity - 1; ++bits) {
        const double low = reference::decode(GetParam().format, static_cast<std::uint16_t>(bits));
        const double high =
            reference::decode(GetParam().format, static_cast<std::uint16_t>(bits + 1));
        const auto middle = static_cast<float>((low + high) / 2);  // exact: one bit more
        ASSERT_EQ(GetParam().narrow(middle), bits + (bits & 1)) << bits;
        ASSERT_EQ(GetParam().narrow(std::nextafter(middle, 0.0F)), bits) << bits;
        ASSERT_EQ(GetParam().narrow(std::nextafter(middle, INFINITY)), bits + 1) << bits;
        ASSERT_EQ(GetParam().narrow(-middle), 0x8000 + bits + (bits & 1)) << bits;
    }
}

TEST_P(Half, overflows_to_infinity) {
    const int infinity = 0x7fff & ~((1 << GetParam().format.fraction_bits) - 1);
    const auto largest =
        reference::decode(GetParam().format, static_cast<std::uint16_t>(infinity - 1));
    const double last_place =
        largest - reference::decode(GetParam().format, static_cast<std::uint16_t>(infinity - 2));
    const auto limit = static_cast<float>(largest + last_place / 2);
    EXPECT_EQ(GetParam().narrow(limit), infinity);
    EXPECT_EQ(GetParam().narrow(std::nextafter(limit, 0.0F)), infinity - 1);
    EXPECT_EQ(GetParam().narrow(-limit), 0x8000 + infinity);
    EXPECT_EQ(GetParam().narrow(std::numeric_limits<float>::max()), infinity);
    EXPECT_EQ(GetParam().narrow(INFINITY), infinity);
    EXPECT_EQ(GetParam().narrow(-INFINITY), 0x8000 + infinity);
}

TEST_P(Half, agrees_with_the_reference_on_any_float) {
    std::mt19937 random(1);
    for (int i = 0; i < 200000; ++i) {
        const auto bits = static_cast<std::uint32_t>(random());
        const auto value = std::bit_cast<float>(bits);
        ASSERT_EQ(GetParam().narrow(value), reference::encode(GetParam().format, value)) << bits;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Half,
    testing::Values(Conversions{"float16", reference::float16, trefoil::to_float_from_float16,
                                trefoil::to_float16},
                    Conversions{"bfloat16", reference::bfloat16, trefoil::to_float_from_bfloat16,
                                trefoil::to_bfloat16}),
    [](const testing::TestParamInfo<Conversions>& entry) { return entry.param.name; });

}  // namespace
