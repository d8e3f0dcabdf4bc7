// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C against published values, both ways against each other, and what it must find.
#include "threads/kernels/checksum.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace trefoil {
namespace {

std::uint32_t of(const std::vector<unsigned char>& bytes) {
    return crc32c(bytes.data(), bytes.size());
}

TEST(Checksum, HasTheValuesOfRfc3720) {
    EXPECT_EQ(of(std::vector<unsigned char>(32, 0)), 0x8a9136aaU);
    EXPECT_EQ(of(std::vector<unsigned char>(32, 0xff)), 0x62a8ab43U);
    std::vector<unsigned char> rising(32), falling(32);
    for (unsigned char i = 0; i < 32; ++i) {
        rising[i] = i;
        falling[i] = static_cast<unsigned char>(31 - i);
    }
    EXPECT_EQ(of(rising), 0x46dd794eU);
    EXPECT_EQ(of(falling), 0x113fdb5cU);
    EXPECT_EQ(of({}), 0U);
}

TEST(Checksum, IsTheSameByInstructionAndByTable) {
    std::mt19937 random(1);
    std::vector<unsigned char> bytes(300);
    for (unsigned char& byte : bytes) {
        byte = static_cast<unsigned char>(random());
    }
    for (std::size_t begin = 0; begin < 9; ++begin) {
        for (std::size_t length = 0; begin + length <= bytes.size(); ++length) {
            EXPECT_EQ(crc32c(&bytes[begin], length), crc32c_by_table(&bytes[begin], length));
        }
    }
}

TEST(Checksum, GoesOnWhereAnotherHasEnded) {
    std::vector<unsigned char> bytes(100);
    for (unsigned char i = 0; i < 100; ++i) {
        bytes[i] = static_cast<unsigned char>(7 * i);
    }
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        const std::size_t rest = bytes.size() - cut;
        EXPECT_EQ(crc32c(&bytes[0] + cut, rest, crc32c(&bytes[0], cut)), of(bytes)) << cut;
        EXPECT_EQ(crc32c_by_table(&bytes[0] + cut, rest, crc32c_by_table(&bytes[0], cut)),
                  of(bytes));
    }
}

TEST(Checksum, FindsEveryFlippedBit) {
    std::vector<unsigned char> bytes(200, 0x5a);
    const std::uint32_t right = of(bytes);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
        EXPECT_NE(of(bytes), right);
        bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    }
}

}  // namespace
}  // namespace trefoil
