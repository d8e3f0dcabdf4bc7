// SPDX-License-Identifier: BSD-3-Clause
// Keyed hashes against the published values of RFC 4231, and random secrets.
#include "backend/system/secrets.hpp"

#include <gtest/gtest.h>

#include <set>

namespace trefoil {
namespace {

std::string hex(const Digest& digest) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : digest) {
        text += {digits[byte >> 4], digits[byte & 15]};
    }
    return text;
}

TEST(Secrets, KeyedHashesAreThePublishedOnes) {
    EXPECT_EQ(hex(keyed_hash(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex(keyed_hash("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hex(keyed_hash(std::string(20, '\xaa'), std::string(50, '\xdd'))),
              "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    EXPECT_EQ(hex(keyed_hash(std::string(131, '\xaa'),
                             "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Secrets, EveryLengthOfTextIsHashed) {
    std::set<std::string> seen;
    for (std::size_t length = 0; length < 200; ++length) {
        const Digest digest = keyed_hash("key", std::string(length, 'x'));
        EXPECT_TRUE(seen.insert(hex(digest)).second) << length;
    }
    EXPECT_EQ(number_of(keyed_hash("Jefe", "what do ya want for nothing?")), 0x5bdcc146bf60754eU);
}

TEST(Secrets, ComparesAllOfIt) {
    EXPECT_TRUE(equal_in_constant_time("", ""));
    EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
    for (const char* other : {"abd", "bbc", "ab", "abcd", ""}) {
        EXPECT_FALSE(equal_in_constant_time("abc", other)) << other;
    }
}

TEST(Secrets, RandomBytesDiffer) {
    EXPECT_EQ(random_bytes(16).size(), 16U);
    EXPECT_NE(random_bytes(16), random_bytes(16));
    EXPECT_NE(random_number(), random_number());
}

}  // namespace
}  // namespace trefoil
