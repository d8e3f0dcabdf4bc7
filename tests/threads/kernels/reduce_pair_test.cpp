// SPDX-License-Identifier: BSD-3-Clause
// Minloc and maxloc: what decides, and that no order of the ranks shows in the bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "threads/kernels/reduce.hpp"

namespace {

using trefoil::DataType;
using trefoil::Operation;
using trefoil::reduce_kernels;

/// Ranks may combine in other orders: ties, zeros, NaN and padding must not show who came first.
template <typename T>
void expect_order_of_pairs_is_irrelevant(DataType type, Operation operation) {
    struct Pair {
        T value;
        int index;
    };
    std::vector<Pair> pairs;
    for (const double value : {0.0, -0.0, 1.0, -1.0, double{NAN}, -double{NAN}}) {
        for (const int index : {-1, 3, 4}) {
            if (!std::isnan(value) || std::is_floating_point_v<T>) {
                Pair& pair = pairs.emplace_back();
                std::memset(static_cast<void*>(&pair), static_cast<int>(pairs.size()), sizeof pair);
                pair.value = static_cast<T>(value);
                pair.index = index;
            }
        }
    }
    const trefoil::ReduceKernel reduce = reduce_kernels(type, operation).reduce;
    const auto of = [reduce](const Pair& a, const Pair& b) {
        std::vector<unsigned char> bytes(sizeof(Pair));
        std::memcpy(bytes.data(), &a, sizeof a);
        reduce(bytes.data(), bytes.data(), &b, 1);
        return bytes;
    };
    const auto as_pair = [](const std::vector<unsigned char>& bytes) {
        Pair pair;
        std::memcpy(&pair, bytes.data(), sizeof pair);
        return pair;
    };
    for (const Pair& a : pairs) {
        for (const Pair& b : pairs) {
            EXPECT_EQ(of(a, b), of(b, a)) << a.value << " and " << b.value;
            for (const Pair& c : pairs) {
                EXPECT_EQ(of(as_pair(of(a, b)), c), of(a, as_pair(of(b, c))))
                    << a.value << ", " << b.value << ", " << c.value;
            }
        }
    }
}

TEST(MinlocAndMaxloc, ignore_the_order) {
    for (const Operation operation : {Operation::minloc, Operation::maxloc}) {
        expect_order_of_pairs_is_irrelevant<float>(DataType::float_int, operation);
        expect_order_of_pairs_is_irrelevant<double>(DataType::double_int, operation);
        expect_order_of_pairs_is_irrelevant<long>(DataType::long_int, operation);
        expect_order_of_pairs_is_irrelevant<int>(DataType::int_int, operation);
        expect_order_of_pairs_is_irrelevant<short>(DataType::short_int, operation);
    }
}

TEST(MinlocAndMaxloc, give_the_lowest_index_of_the_best_value) {
    struct Pair {
        float value;
        int index;
    };
    const auto of = [](Operation operation, Pair a, Pair b) {
        reduce_kernels(DataType::float_int, operation).reduce(&a, &a, &b, 1);
        return a;
    };
    const auto expect = [](Pair pair, float value, int index) {
        EXPECT_TRUE(pair.value == value || (std::isnan(value) && std::isnan(pair.value)))
            << pair.value << " is not " << value;
        EXPECT_EQ(pair.index, index);
    };
    expect(of(Operation::minloc, {2, 1}, {1, 9}), 1, 9);
    expect(of(Operation::maxloc, {2, 9}, {1, 1}), 2, 9);
    expect(of(Operation::minloc, {1, 9}, {1, 3}), 1, 3);
    expect(of(Operation::maxloc, {1, -3}, {1, 3}), 1, -3);
    expect(of(Operation::minloc, {-0.0F, 9}, {0.0F, 3}), 0, 3);
    expect(of(Operation::maxloc, {NAN, 9}, {INFINITY, 3}), NAN, 9);
    expect(of(Operation::minloc, {NAN, 9}, {NAN, 3}), NAN, 3);
}

}  // namespace
