// SPDX-License-Identifier: BSD-3-Clause
// Ever-different calls: what is kept of them stays within its bound, and so does the memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include <barrier>
#include <vector>

#include "tests/comm/communicator/thread_job.hpp"
#include "tests/variable.hpp"

namespace trefoil::test::bounded_plans_test {
namespace {

std::size_t plan_bytes(trefoil_comm_t comm) {
    trefoil_resources_t held{};
    held.size = sizeof held;
    EXPECT_EQ(trefoil_comm_resources(comm, &held), TREFOIL_SUCCESS);
    return held.plan_bytes;
}

/// What the program has of the heap.
std::size_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

void allreduce(trefoil_comm_t comm, std::vector<int>& values, std::size_t count) {
    std::fill_n(values.begin(), count, 1);
    ASSERT_EQ(
        trefoil_allreduce(TREFOIL_IN_PLACE, values.data(), count, TREFOIL_INT32, TREFOIL_SUM, comm),
        TREFOIL_SUCCESS);
    ASSERT_EQ(values[count - 1], 4);
}

TEST(BoundedPlans, MemoryStaysFlatForEverDifferentCounts) {
    constexpr std::size_t bound = std::size_t{256} << 10, warm = 600, calls = 1200;
    const Variable bytes("TREFOIL_PLAN_BYTES", "256K");
    std::barrier together(4);
    std::size_t before = 0, after = 0;
    JobOptions options;
    options.torus = "2x2";
    options.algorithm = "bucket";
    run_ranks(4, options, [&](int rank, trefoil_comm_t comm) {
        std::vector<int> values(warm + calls);
        for (std::size_t count = 1; count <= warm + calls; ++count) {
            allreduce(comm, values, count);
            ASSERT_LE(plan_bytes(comm), bound);
            if (count == warm || count == warm + calls) {
                together.arrive_and_wait();
                if (rank == 0) {
                    (count == warm ? before : after) = heap_bytes();
                }
                together.arrive_and_wait();
            }
        }
        EXPECT_GT(plan_bytes(comm), bound / 2) << "the bound was never met";
        allreduce(comm, values, 1);  // long forgotten
    });
    EXPECT_LT(after, before + bound / 4);
}

TEST(BoundedPlans, NothingKeptStillWorks) {
    const Variable bytes("TREFOIL_PLAN_BYTES", "0");
    run_ranks(4, {}, [&](int, trefoil_comm_t comm) {
        std::vector<int> values(100);
        for (int i = 0; i < 10; ++i) {
            allreduce(comm, values, static_cast<std::size_t>(1 + i % 3));
        }
    });
}

}  // namespace
}  // namespace trefoil::test::bounded_plans_test
