// SPDX-License-Identifier: BSD-3-Clause
// The rows of element types.
#include "threads/kernels/datatype.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace trefoil {
namespace {

TEST(DataTypes, EachRowIsThatOfItsType) {
    for (int i = 0; i < datatype_count; ++i) {
        const auto type = static_cast<DataType>(i);
        EXPECT_EQ(traits_of(type).type, type);
        EXPECT_GT(size_of(type), 0U) << to_string(type);
    }
}

TEST(DataTypes, IntegersAreExactAsFarAsTheRowSays) {
    int floating = 0;
    for (int i = 0; i < datatype_count; ++i) {
        const DataTypeTraits& row = traits_of(static_cast<DataType>(i));
        if (row.from_double == nullptr) {
            continue;
        }
        ++floating;
        const auto back = [&](double value) {
            alignas(8) std::array<std::byte, 8> element{};
            row.from_double(value, element.data());
            return row.to_double(element.data());
        };
        const auto most = static_cast<double>(row.exact_integers);
        for (const double value : {0.0, 1.0, -1.0, 3.0, most - 1, most, -most}) {
            EXPECT_EQ(back(value), value) << row.name;
        }
        if (row.bytes < sizeof(double)) {
            EXPECT_NE(back(most + 1), most + 1) << row.name;
        }
    }
    EXPECT_EQ(floating, 4);
}

}  // namespace
}  // namespace trefoil
