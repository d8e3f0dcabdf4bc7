// SPDX-License-Identifier: BSD-3-Clause
// What is known of registrations in their own process.
#include "backend/memory/registration.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstddef>

namespace trefoil::memory {
namespace {

// A program may register millions of times. Sanitizers, which have their own allocator, count
// nothing here.
TEST(Registration, LeavesNothingBehind) {
    std::array<std::byte, 64> memory{};
    const auto register_and_end = [&](int times) {
        for (int i = 0; i < times; ++i) {
            (void)Registration::make(memory.data(), memory.size());
        }
        return mallinfo2().uordblks;
    };
    const std::size_t before = register_and_end(10);
    EXPECT_LT(register_and_end(1000), before + (8 << 10));
}

}  // namespace
}  // namespace trefoil::memory
