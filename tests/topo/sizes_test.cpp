// SPDX-License-Identifier: BSD-3-Clause
// The one parser of sizes.
#include "topo/sizes.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "topo/decimals.hpp"

namespace trefoil {
namespace {

TEST(Sizes, HaveBinarySuffixes) {
    EXPECT_EQ(parse_bytes("0"), 0U);
    EXPECT_EQ(parse_bytes("1000"), 1000U);
    EXPECT_EQ(parse_bytes("8B"), 8U);
    for (const char* const text : {"64K", "64k", "64Ki", "64KiB"}) {
        EXPECT_EQ(parse_bytes(text), 65536U) << text;
    }
    EXPECT_EQ(parse_bytes("1Mi"), 1048576U);
    EXPECT_EQ(parse_bytes("4MiB"), 4194304U);
    EXPECT_EQ(parse_bytes("2G"), std::size_t{2} << 30);
}

TEST(Sizes, NothingElseIsOne) {
    for (const char* const text : {"", "K", "-1", "+1", "1.5M", "4Q", "8 ", " 8", "1MM", "1Kib",
                                   "0x10", "1e3", "1KB", "1\n"}) {
        EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
    }
}

TEST(Sizes, WhatOverflowsIsRefused) {
    EXPECT_EQ(parse_bytes("18446744073709551615G"), std::nullopt);
    EXPECT_EQ(parse_bytes("99999999999999999999"), std::nullopt);
    EXPECT_EQ(parse_bytes("18446744073709551615"), std::nullopt);
    EXPECT_EQ(parse_bytes("17179869184G"), std::nullopt);  // 2^64
    EXPECT_EQ(parse_bytes("8589934591G"), std::size_t{8589934591} << 30);
    EXPECT_EQ(parse_bytes("8589934592G"), std::nullopt);  // 2^63
    EXPECT_EQ(parse_bytes("4K", 4096), 4096U);
    EXPECT_EQ(parse_bytes("5K", 4096), std::nullopt);
    EXPECT_EQ(parse_bytes("18446744073709551615", ~std::size_t{0}), ~std::size_t{0});
}

TEST(Sizes, RangesHaveBothEndsOrOne) {
    EXPECT_EQ(parse_size_range("1Ki-4Mi"), (SizeRange{1024, std::size_t{4} << 20}));
    EXPECT_EQ(parse_size_range("64K-"), (SizeRange{65536, ~std::size_t{0}}));
    EXPECT_EQ(parse_size_range("-64"), (SizeRange{0, 64}));
    EXPECT_TRUE(parse_size_range("2-1")->is_reversed());
    for (const char* const text : {"", "-", "64", "1-2-3", "a-b", "1K-x", "--1", "1 - 2"}) {
        EXPECT_EQ(parse_size_range(text), std::nullopt) << text;
    }
    EXPECT_TRUE((SizeRange{1, 4}.meets({4, 9})));
    EXPECT_FALSE((SizeRange{1, 4}.meets({5, 9})));
}

TEST(Decimals, AreWrittenAsTheCLocaleDoes) {
    for (const double value : {0.0, 1.0, 0.05, 1.25, 1e-7, 123456.789, -2.5, 1e300}) {
        char text[400];
        std::snprintf(text, sizeof text, "%.1f", value);
        EXPECT_EQ(fixed_decimal(value, 1), text);
        std::snprintf(text, sizeof text, "%.6g", value);
        EXPECT_EQ(short_decimal(value, 6), text);
    }
}

}  // namespace
}  // namespace trefoil
