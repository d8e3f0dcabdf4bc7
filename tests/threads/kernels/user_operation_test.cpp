// SPDX-License-Identifier: BSD-3-Clause
// The user's operations: order of the operands, what is copied, and that sources are left alone.
#include "threads/kernels/user_operation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "threads/kernels/reduce.hpp"

namespace trefoil::test {
namespace {

struct Seen {
    std::size_t element_bytes = 0;
    int calls = 0;
    const void* in = nullptr;
    void* inout = nullptr;
};

/// x -> a x + b, as the first 8 bytes of an element: composing two does not commute. The rest of an
/// element is the first operand's and must travel with it.
struct Affine {
    std::uint32_t a, b;
    friend bool operator==(const Affine&, const Affine&) = default;
};
Affine composed(Affine l, Affine r) {
    return {l.a * r.a, l.a * r.b + l.b};
}
Affine read(const void* place) {
    Affine value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

void compose(const void* in, void* inout, std::size_t count, void* context) {
    auto& seen = *static_cast<Seen*>(context);
    ++seen.calls;
    seen.in = in;
    seen.inout = inout;
    for (std::size_t i = 0; i < count; ++i) {
        const auto* const left = static_cast<const std::byte*>(in) + i * seen.element_bytes;
        auto* const right = static_cast<std::byte*>(inout) + i * seen.element_bytes;
        const Affine result = composed(read(left), read(right));
        std::memcpy(right, left, seen.element_bytes);
        std::memcpy(right, &result, sizeof result);
    }
}

/// Elements that differ, of any size from 8 bytes on.
std::vector<std::byte> elements(std::size_t bytes, std::size_t count, unsigned seed) {
    std::vector<std::byte> all(bytes * count);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<std::byte>(i * 37 + i / 251 + seed);
    }
    return all;
}

TEST(UserOperation, KeepsTheOrderWhereverTheResultGoes) {
    for (const std::size_t bytes : {8UL, 24UL, 1000UL, 16384UL, 16385UL, 50'000UL}) {
        for (const std::size_t count : {1UL, 3UL, 5000UL}) {
            if (bytes * count > 4'000'000) {
                continue;
            }
            Seen seen{bytes};
            const UserOperation operation{compose, &seen, bytes, false};
            const auto left = elements(bytes, count, 1), right = elements(bytes, count, 99);
            auto target = left;
            const auto source = right;
            operation.apply(target.data(), target.data(), source.data(), count);
            EXPECT_EQ(source, right);
            auto expected = left;
            for (std::size_t i = 0; i < count; ++i) {
                const Affine result = composed(read(&left[i * bytes]), read(&right[i * bytes]));
                std::memcpy(&expected[i * bytes], &result, sizeof result);
            }
            EXPECT_EQ(target, expected) << count << " elements of " << bytes << " bytes";
            auto elsewhere = elements(bytes, count, 50), behind = right;
            operation.apply(elsewhere.data(), left.data(), right.data(), count);
            EXPECT_EQ(elsewhere, expected) << count << " elements of " << bytes << " bytes";
            operation.apply(behind.data(), left.data(), behind.data(), count);
            EXPECT_EQ(behind, expected) << count << " elements of " << bytes << " bytes";
        }
    }
}

TEST(UserOperation, CopiesNothingWhereItCommutes) {
    Seen seen{sizeof(Affine)};
    const UserOperation operation{compose, &seen, sizeof(Affine), true};
    std::vector<Affine> target(10'000, {2, 1});
    const std::vector<Affine> source(10'000, {3, 5});
    operation.apply(target.data(), target.data(), source.data(), target.size());
    EXPECT_EQ(seen.calls, 1);
    EXPECT_EQ(seen.in, source.data());
    EXPECT_EQ(seen.inout, target.data());
    EXPECT_EQ(target, std::vector<Affine>(10'000, composed({3, 5}, {2, 1})));
}

TEST(UserOperation, JointReductionsGoFromLeftToRight) {
    Seen seen{sizeof(Affine)};
    const UserOperation operation{compose, &seen, sizeof(Affine), false};
    ReduceKernels kernels;
    kernels.user = &operation;
    Affine target{2, 1};
    const Affine first{3, 5}, second{7, 11};
    kernels.apply_joint(&target, &target, &first, &second, 1);
    EXPECT_EQ(target, composed(composed({2, 1}, first), second));
}

}  // namespace
}  // namespace trefoil::test
