// SPDX-License-Identifier: BSD-3-Clause
// What cannot be written is refused before a transport hears of it.
#include "backend/system/writable_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "topo/error.hpp"

namespace trefoil::writable_memory {
namespace {

std::string refusal(const void* data, std::size_t bytes) {
    try {
        require_writable_memory(data, bytes);
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument);
        return error.what();
    }
    return {};
}

TEST(WritableMemory, OfAllKindsIsAccepted) {
    static int zero;
    const int local = 1;
    const std::vector<char> heap(std::size_t{10} << 20);
    EXPECT_EQ(refusal(&zero, sizeof zero), "");
    EXPECT_EQ(refusal(&local, 1), "");
    EXPECT_EQ(refusal(heap.data() + 3, heap.size() - 3), "");
}

TEST(WritableMemory, WithAHoleOrAReadOnlyPageIsRefusedAndTheAddressIsNamed) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    // Far below where the system maps by itself, so that nothing comes to lie in the hole.
    void* const apart = reinterpret_cast<void*>(std::uintptr_t{1} << 45);
    void* const mapped =
        mmap(apart, 6 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    auto* const data = static_cast<std::byte*>(mapped);
    EXPECT_EQ(refusal(data, 6 * page), "");
    ASSERT_EQ(mprotect(data + 2 * page, page, PROT_READ), 0);
    ASSERT_EQ(munmap(data + 4 * page, page), 0);
    EXPECT_EQ(refusal(data, 2 * page), "");
    EXPECT_EQ(refusal(data + 3 * page, page), "");
    EXPECT_EQ(refusal(data + 5 * page, page), "");
    EXPECT_NE(refusal(data, 2 * page + 1).find("read-only"), std::string::npos);
    EXPECT_NE(refusal(data + 3 * page, page + 1).find("nothing is mapped at"), std::string::npos);
    EXPECT_NE(refusal(data + 4 * page, 8).find("nothing is mapped at"), std::string::npos);
    ASSERT_EQ(mprotect(data, page, PROT_NONE), 0);
    EXPECT_NE(refusal(data, 1).find("read-only"), std::string::npos);
    munmap(data, 4 * page);
    munmap(data + 5 * page, page);
}

TEST(WritableMemory, NeedsAnAddressAndAByteAndAnEnd) {
    int word = 0;
    EXPECT_NE(refusal(nullptr, 8), "");
    EXPECT_NE(refusal(&word, 0), "");
    EXPECT_NE(refusal(&word, SIZE_MAX).find("beyond"), std::string::npos);
}

}  // namespace
}  // namespace trefoil::writable_memory
