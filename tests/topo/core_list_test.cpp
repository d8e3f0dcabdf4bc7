// SPDX-License-Identifier: BSD-3-Clause
// Lists of cores: read, refused, written.
#include "topo/core_list.hpp"

#include <gtest/gtest.h>

namespace trefoil {
namespace {

TEST(CoreList, ReadsNumbersAndRangesInTheirOrder) {
    EXPECT_EQ(parse_core_list("0"), (std::vector<int>{0}));
    EXPECT_EQ(parse_core_list("0,2,4-7"), (std::vector<int>{0, 2, 4, 5, 6, 7}));
    EXPECT_EQ(parse_core_list("5,1-2"), (std::vector<int>{5, 1, 2}));
    EXPECT_EQ(parse_core_list("3-3"), (std::vector<int>{3}));
}

TEST(CoreList, RefusesWhatIsNone) {
    for (const char* text : {"", ",", "1,", ",1", "1,,2", "a", "1-", "-1", "4-2", "1 2", "1,1",
                             "0-3,2", "65536", "99999999999", "0x1", "1-2-3"}) {
        EXPECT_FALSE(parse_core_list(text).has_value()) << text;
    }
}

TEST(CoreList, WritesRanges) {
    EXPECT_EQ(core_list_text({}), "");
    EXPECT_EQ(core_list_text({3}), "3");
    EXPECT_EQ(core_list_text({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace
}  // namespace trefoil
