// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program allocates and registers, and frees too early.
#include <array>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <span>

#include "sum_in_flight.hpp"

namespace trefoil::test::user_memory_test {
namespace {

void expect_refused(trefoil_status_t status, trefoil_status_t expected, const std::string& words) {
    EXPECT_EQ(status, expected) << words;
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find(words), std::string::npos)
        << trefoil_last_error(nullptr);
}

/// Also where the transport has nothing to register: of one rank, and so on.
void use_and_free(const JobOptions& options, int ranks) {
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        constexpr std::size_t count = 5000;
        void *send = nullptr, *recv = nullptr;
        ASSERT_EQ(trefoil_alloc(comm, count * sizeof(int), &send), ok);
        ASSERT_EQ(trefoil_alloc(comm, count * sizeof(int), &recv), ok);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(send) % 4096, 0U);
        int* const values = static_cast<int*>(send);
        EXPECT_EQ(std::accumulate(values, values + count, 0), 0);
        std::fill(values, values + count, rank + 1);
        trefoil_request_t sum = TREFOIL_REQUEST_NULL;
        ASSERT_EQ(trefoil_allreduce_init(send, recv, count, TREFOIL_INT32, TREFOIL_SUM, comm, &sum),
                  ok);
        for (int round = 0; round < 3; ++round) {
            ASSERT_EQ(trefoil_start(&sum), ok);
            expect_refused(trefoil_free(comm, recv), TREFOIL_ERROR_BUSY,
                           "freed too early: 20000 bytes at ");
            ASSERT_EQ(trefoil_wait(&sum), ok) << trefoil_last_error(nullptr);
            EXPECT_EQ(static_cast<int*>(recv)[count - 1], ranks * (ranks + 1) / 2);
        }
        expect_refused(trefoil_free(comm, send), TREFOIL_ERROR_BUSY,
                       "a persistent allreduce uses 20000 bytes at ");
        EXPECT_EQ(trefoil_request_free(&sum), ok);
        EXPECT_EQ(trefoil_free(comm, send), ok) << trefoil_last_error(nullptr);
        EXPECT_EQ(trefoil_free(comm, recv), ok) << trefoil_last_error(nullptr);
        expect_refused(trefoil_free(comm, recv), TREFOIL_ERROR_INVALID_ARGUMENT,
                       "not memory that trefoil_alloc returned, or it was freed");
        void* forgotten = nullptr;
        EXPECT_EQ(trefoil_alloc(comm, 1, &forgotten), ok) << "it ends with the communicator";
    });
}

TEST(UserMemory, AllocatedMemoryIsUsedAndFreed) {
    use_and_free(on("3"), 3);
    use_and_free(on("1"), 1);
}
TEST(UserMemory, ForgottenMemoryEndsWithItsCommunicator) {
    constexpr std::size_t bytes = std::size_t{256} << 20;
    const auto forget = [] {
        run_ranks(1, on("1"), [](int, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            void* forgotten = nullptr;
            EXPECT_EQ(trefoil_alloc(comm, bytes, &forgotten), ok) << trefoil_last_error(nullptr);
        });
    };
    const auto address_space = [] {
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        return pages * 4096;
    };
    forget();
    const std::size_t before = address_space();
    forget();
    EXPECT_LT(address_space(), before + bytes / 2);
}
TEST(UserMemory, AllocatedMemoryWithPortThreads) {
    use_and_free(on("2x2", 2), 4);
}

TEST(UserMemory, RegisteredMemoryEndsWhenNobodyUsesIt) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::vector<int> all(10'000, rank);
        const std::span<int> first(all.data(), 4000), second(all.data() + 4000, 4000);
        ASSERT_EQ(trefoil_register(comm, first.data(), first.size_bytes()), ok)
            << trefoil_last_error(nullptr);
        ASSERT_EQ(trefoil_register(comm, second.data(), second.size_bytes()), ok);
        trefoil_comm_t dup = nullptr;
        ASSERT_EQ(trefoil_comm_dup(comm, &dup), ok);
        trefoil_request_t bcast = TREFOIL_REQUEST_NULL;
        ASSERT_EQ(trefoil_bcast_init(second.data() + 100, 10, TREFOIL_INT32, 0, dup, &bcast), ok);
        EXPECT_EQ(trefoil_deregister(comm, first.data()), ok) << trefoil_last_error(nullptr);
        expect_refused(trefoil_deregister(comm, second.data()), TREFOIL_ERROR_BUSY,
                       "deregistered too early: 16000 bytes at ");
        expect_refused(trefoil_deregister(dup, second.data()), TREFOIL_ERROR_BUSY,
                       "a persistent bcast uses 40 bytes at ");
        ASSERT_EQ(trefoil_start(&bcast), ok);
        ASSERT_EQ(trefoil_wait(&bcast), ok);
        EXPECT_EQ(second[100], 0);
        EXPECT_EQ(trefoil_request_free(&bcast), ok);
        EXPECT_EQ(trefoil_deregister(dup, second.data()), ok) << trefoil_last_error(nullptr);
        EXPECT_EQ(trefoil_comm_destroy(dup), ok);
    });
}

TEST(UserMemory, MistakesAreTold) {
    run_ranks(2, on("2"), [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        constexpr trefoil_status_t wrong = TREFOIL_ERROR_INVALID_ARGUMENT;
        std::array<char, 100> bytes{};
        void* memory = bytes.data();
        expect_refused(trefoil_alloc(comm, 0, &memory), wrong, "0 bytes");
        EXPECT_EQ(memory, nullptr);
        expect_refused(trefoil_alloc(comm, 1, nullptr), wrong, "NULL");
        expect_refused(trefoil_alloc(nullptr, 1, &memory), wrong, "communicator is NULL");
        expect_refused(trefoil_alloc(comm, SIZE_MAX, &memory), TREFOIL_ERROR_OUT_OF_MEMORY,
                       "no memory for");
        expect_refused(trefoil_free(comm, nullptr), wrong, "NULL");
        expect_refused(trefoil_register(comm, nullptr, 1), wrong, "NULL");
        expect_refused(trefoil_register(comm, bytes.data(), 0), wrong, "0 bytes");
        expect_refused(trefoil_register(comm, bytes.data(), SIZE_MAX), wrong, "address space");
        expect_refused(trefoil_deregister(comm, nullptr), wrong, "NULL");
        expect_refused(trefoil_deregister(comm, bytes.data()), wrong, "no memory that begins here");

        ASSERT_EQ(trefoil_register(comm, bytes.data() + 10, 50), ok);
        expect_refused(trefoil_register(comm, bytes.data() + 10, 50), wrong, "overlap 50 bytes");
        expect_refused(trefoil_register(comm, bytes.data(), 11), wrong, "registered already");
        expect_refused(trefoil_register(comm, bytes.data() + 59, 1), wrong, "registered already");
        EXPECT_EQ(trefoil_register(comm, bytes.data(), 10), ok) << "side by side";
        expect_refused(trefoil_deregister(comm, bytes.data() + 11), wrong, "begins here");
        expect_refused(trefoil_free(comm, bytes.data() + 10), wrong, "trefoil_deregister");
        EXPECT_EQ(trefoil_deregister(comm, bytes.data() + 10), ok);
        EXPECT_EQ(trefoil_deregister(comm, bytes.data()), ok);

        ASSERT_EQ(trefoil_alloc(comm, 100, &memory), ok);
        expect_refused(trefoil_deregister(comm, memory), wrong, "trefoil_free");
        expect_refused(trefoil_register(comm, memory, 10), wrong, "trefoil_alloc gave");
        EXPECT_EQ(trefoil_free(comm, memory), ok);
    });
}

}  // namespace
}  // namespace trefoil::test::user_memory_test
