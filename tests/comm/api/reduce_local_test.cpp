// SPDX-License-Identifier: BSD-3-Clause
// trefoil_reduce_local: built-in and user operations, the order of the operands, and refusals.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "comm/api/user_operations.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::test {
namespace {

using Ints = std::vector<std::int32_t>;

static_assert(operation_after(first_user_operation) == first_user_operation + 1 &&
              operation_after(TREFOIL_OP_LAST) == first_user_operation);

trefoil_status_t local(const Ints& in, Ints& inout, trefoil_op_t op,
                       trefoil_datatype_t type = TREFOIL_INT32) {
    return trefoil_reduce_local(in.data(), inout.data(), in.size(), type, op);
}

TEST(ReduceLocal, CombinesWithoutACommunicator) {
    const Ints in{1, -5, 7};
    Ints inout{10, 20, -30};
    ASSERT_EQ(local(in, inout, TREFOIL_SUM), TREFOIL_SUCCESS);
    EXPECT_EQ(inout, (Ints{11, 15, -23}));
    ASSERT_EQ(local(in, inout, TREFOIL_MIN), TREFOIL_SUCCESS);
    EXPECT_EQ(inout, (Ints{1, -5, -23}));
    EXPECT_EQ(trefoil_reduce_local(nullptr, nullptr, 0, TREFOIL_INT32, TREFOIL_SUM),
              TREFOIL_SUCCESS);
}

/// 10 in + inout, so that the order shows.
void digits(const void* in, void* inout, size_t count, void*) {
    for (size_t i = 0; i < count; ++i) {
        auto& right = static_cast<std::int32_t*>(inout)[i];
        right += 10 * static_cast<const std::int32_t*>(in)[i];
    }
}

TEST(ReduceLocal, RunsUserOperationsWithInOnTheLeft) {
    for (const int commutes : {0, 1}) {
        trefoil_op_t op = TREFOIL_SUM;
        ASSERT_EQ(trefoil_op_create(digits, nullptr, 4, commutes, &op), TREFOIL_SUCCESS);
        Ints in(10'000, 1), inout(10'000, 2);
        ASSERT_EQ(local(in, inout, op, TREFOIL_ELEMENT), TREFOIL_SUCCESS);
        EXPECT_EQ(inout, Ints(10'000, 12));
        EXPECT_EQ(in, Ints(10'000, 1));
        ASSERT_EQ(trefoil_op_free(op), TREFOIL_SUCCESS);
        EXPECT_EQ(local(in, inout, op, TREFOIL_ELEMENT), TREFOIL_ERROR_INVALID_ARGUMENT);
    }
}

TEST(ReduceLocal, RefusesWhatItCannotDo) {
    const Ints in{1, 2};
    Ints inout{3, 4};
    const auto refused = [&](trefoil_status_t status, trefoil_status_t expected,
                             const std::string& words) {
        EXPECT_EQ(status, expected);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find(words), std::string::npos)
            << trefoil_last_error(nullptr);
        EXPECT_EQ(inout, (Ints{3, 4}));
    };
    refused(local(in, inout, TREFOIL_AVG), TREFOIL_ERROR_UNSUPPORTED, "knows of no ranks");
    refused(local(in, inout, TREFOIL_MINLOC), TREFOIL_ERROR_UNSUPPORTED, "minloc");
    refused(local(in, inout, TREFOIL_SUM, static_cast<trefoil_datatype_t>(77)),
            TREFOIL_ERROR_INVALID_ARGUMENT, "datatype 77");
    refused(trefoil_reduce_local(nullptr, inout.data(), 2, TREFOIL_INT32, TREFOIL_SUM),
            TREFOIL_ERROR_INVALID_ARGUMENT, "in buffer is NULL");
}

TEST(ReduceLocal, RefusesBuffersThatOverlap) {
    Ints all{1, 2, 3};
    EXPECT_EQ(trefoil_reduce_local(all.data() + 1, all.data(), 2, TREFOIL_INT32, TREFOIL_SUM),
              TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("overlap; give disjoint ones"),
              std::string::npos);
    EXPECT_EQ(all, (Ints{1, 2, 3}));
}

}  // namespace
}  // namespace trefoil::test
