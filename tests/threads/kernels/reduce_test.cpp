// SPDX-License-Identifier: BSD-3-Clause
// Every reduction kernel against the scalar reference, at every count around the vector widths and
// at starts that suit the element but no vector.
#include "threads/kernels/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/threads/kernels/reduce_reference.hpp"
#include "threads/kernels/checksum.hpp"

namespace {

using trefoil::best_instructions;
using trefoil::DataType;
using trefoil::datatype_count;
using trefoil::Instructions;
using trefoil::is_pair;
using trefoil::Operation;
using trefoil::operation_count;
using trefoil::reduce_kernels;
using trefoil::size_of;
using trefoil::to_bfloat16;
using trefoil::to_float16;

constexpr std::size_t guard = 64;
using Bytes = std::vector<unsigned char>;

bool is_float(DataType type) {
    return type >= DataType::float16 && type <= DataType::complex_double;
}
bool is_complex(DataType type) {
    return type == DataType::complex_float || type == DataType::complex_double;
}

bool makes_sense(DataType type, Operation operation) {
    const bool bitwise = operation >= Operation::bitwise_and && operation <= Operation::bitwise_xor;
    const bool locating = operation == Operation::minloc || operation == Operation::maxloc;
    const bool adds = operation == Operation::sum || operation == Operation::average;
    if (is_complex(type)) {
        return adds || operation == Operation::prod;
    }
    if (is_pair(type) || locating) {
        return is_pair(type) && locating;
    }
    return !(bitwise && is_float(type));
}

/// Any bit pattern is a number; floats get every class (zeros, denormals, infinities, NaN) because
/// a third of the elements are near their all-zero and all-one patterns.
Bytes random_elements(DataType type, std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(count * size_of(type));
    for (unsigned char& byte : bytes) {
        byte = static_cast<unsigned char>(random());
    }
    const std::size_t part = is_complex(type) ? size_of(type) / 2 : size_of(type);
    for (std::size_t at = 0; at < bytes.size(); at += part) {
        const auto kind = random() % 6;
        if (kind < 2) {  // 0 or 0xff..: zero, smallest, NaN, -1; the top byte picks the sign
            std::memset(&bytes[at], kind == 0 ? 0 : 0xff, part);
            bytes[at + part - 1] ^= static_cast<unsigned char>(random() % 2 * 0x80);
        } else if (kind == 2 && is_float(type)) {  // infinities
            std::memset(&bytes[at], 0, part);
            bytes[at + part - 1] = static_cast<unsigned char>(random() % 2 * 0x80 + 0x7f);
            bytes[at + part - 2] = part == 8 ? 0xf0 : 0x80;
            if (type == DataType::float16) {
                bytes[at + 1] &= 0xfc;
                bytes[at] = 0;
            }
        }
    }
    return bytes;
}

/// NaN results of sums and products may differ in sign and payload; everything else is bitwise.
template <typename T>
bool same_values(const void* a, const void* b, std::size_t values) {
    for (std::size_t i = 0; i < values; ++i) {
        T x;
        T y;
        std::memcpy(&x, static_cast<const unsigned char*>(a) + i * sizeof(T), sizeof(T));
        std::memcpy(&y, static_cast<const unsigned char*>(b) + i * sizeof(T), sizeof(T));
        const bool both_nan = std::isnan(x) && std::isnan(y);
        if (!both_nan && std::memcmp(&x, &y, sizeof(T)) != 0) {
            return false;
        }
    }
    return true;
}

bool same(DataType type, const void* a, const void* b, std::size_t count) {
    switch (type) {
        case DataType::float32:
            return same_values<float>(a, b, count);
        case DataType::float64:
            return same_values<double>(a, b, count);
        case DataType::complex_float:
            return same_values<float>(a, b, 2 * count);
        case DataType::complex_double:
            return same_values<double>(a, b, 2 * count);
        default:
            return count == 0 || std::memcmp(a, b, count * size_of(type)) == 0;
    }
}

/// Values of all classes, of which many are equal, few indices, and padding of any bits.
Bytes random_pairs(DataType type, std::size_t count, unsigned seed) {
    std::mt19937 random(seed + 1);
    const std::size_t value_bytes = size_of(trefoil::traits_of(type).part);
    const Bytes values = random_elements(trefoil::traits_of(type).part, count, seed);
    Bytes bytes(count * size_of(type), 0x5a);
    for (std::size_t i = 0; i < count; ++i) {
        unsigned char* pair = &bytes[i * size_of(type)];
        const int index = static_cast<int>(random() % 5) - 2;
        std::memcpy(pair, &values[i * value_bytes], value_bytes);
        std::memcpy(pair + std::max(value_bytes, sizeof index), &index, sizeof index);
    }
    return bytes;
}

Bytes random_input(DataType type, std::size_t count, unsigned seed) {
    return is_pair(type) ? random_pairs(type, count, seed) : random_elements(type, count, seed);
}

/// `elements` at a start that is a multiple of the element size and, for offset > 0, of no more;
/// guarded on both sides.
struct Placed {
    Placed(DataType type, const Bytes& elements, std::size_t offset)
        : storage(guard + offset * size_of(type) + elements.size() + guard, 0xa5),
          start(guard + offset * size_of(type)),
          bytes(elements.size()) {
        if (bytes > 0) {
            std::memcpy(&storage[start], elements.data(), bytes);
        }
    }
    void* data() { return &storage[start]; }
    bool guards_intact() const {
        for (std::size_t i = 0; i < storage.size(); ++i) {
            if ((i < start || i >= start + bytes) && storage[i] != 0xa5) {
                return false;
            }
        }
        return true;
    }
    Bytes storage;
    std::size_t start;
    std::size_t bytes;
};

using Pair = std::tuple<int, int>;

class Kernels : public testing::TestWithParam<Pair> {
  protected:
    DataType type() const { return static_cast<DataType>(std::get<0>(GetParam())); }
    Operation operation() const { return static_cast<Operation>(std::get<1>(GetParam())); }

    void check(std::size_t count, std::size_t offset) {
        SCOPED_TRACE("count " + std::to_string(count) + " offset " + std::to_string(offset));
        for (int set = 0; set <= static_cast<int>(trefoil::best_instructions()); ++set) {
            check(count, offset, static_cast<trefoil::Instructions>(set));
        }
    }

  private:
    void check(std::size_t count, std::size_t offset, trefoil::Instructions instructions) {
        SCOPED_TRACE(to_string(instructions));
        const trefoil::ReduceKernels kernels = reduce_kernels(type(), operation(), instructions);
        const auto seed = static_cast<unsigned>(count * 7 + offset);
        const Bytes start = random_input(type(), count, seed);
        Placed one(type(), random_input(type(), count, seed + 1), (offset + 1) % 4);
        Placed two(type(), random_input(type(), count, seed + 2), (offset + 2) % 4);
        Placed single(type(), start, offset);
        Placed joint(type(), start, offset);
        Placed elsewhere(type(), random_input(type(), count, seed + 3), (offset + 3) % 4);
        Bytes expected = start;

        apply_reference(expected, one);
        kernels.reduce(elsewhere.data(), single.data(), one.data(), count);
        EXPECT_TRUE(same(type(), elsewhere.data(), expected.data(), count)) << "elsewhere";
        Placed second(type(), random_input(type(), count, seed + 1), offset);
        kernels.reduce(second.data(), single.data(), second.data(), count);
        EXPECT_TRUE(same(type(), second.data(), expected.data(), count)) << "in the second";
        kernels.reduce(single.data(), single.data(), one.data(), count);
        EXPECT_TRUE(same(type(), single.data(), expected.data(), count)) << "in the first";

        apply_reference(expected, two);
        kernels.reduce(single.data(), single.data(), two.data(), count);
        kernels.joint(elsewhere.data(), joint.data(), one.data(), two.data(), count);
        EXPECT_TRUE(same(type(), elsewhere.data(), expected.data(), count)) << "joint elsewhere";
        Placed middle(type(), random_input(type(), count, seed + 1), offset);
        kernels.joint(middle.data(), joint.data(), middle.data(), two.data(), count);
        EXPECT_TRUE(same(type(), middle.data(), expected.data(), count)) << "joint in the second";
        kernels.joint(joint.data(), joint.data(), one.data(), two.data(), count);
        EXPECT_TRUE(same(type(), joint.data(), expected.data(), count)) << "joint";
        EXPECT_TRUE(same(type(), joint.data(), single.data(), count))
            << "the joint pass must give the bits of two single ones";
        EXPECT_TRUE(single.guards_intact() && joint.guards_intact() && second.guards_intact() &&
                    middle.guards_intact() && elsewhere.guards_intact());
    }

    void apply_reference(Bytes& target, Placed& source) const {
        const std::size_t size = size_of(type());
        for (std::size_t at = 0; at < target.size(); at += size) {
            ASSERT_TRUE(reference::apply(type(), operation(), &target[at],
                                         &source.storage[source.start + at]));
        }
    }
};

TEST_P(Kernels, agree_with_the_reference) {
    const trefoil::ReduceKernels kernels = reduce_kernels(type(), operation());
    ASSERT_EQ(kernels.reduce != nullptr, makes_sense(type(), operation()));
    ASSERT_EQ(kernels.joint != nullptr, makes_sense(type(), operation()));
    if (kernels.reduce == nullptr) {
        std::array<unsigned char, 16> element{};
        EXPECT_FALSE(reference::apply(type(), operation(), element.data(), element.data()));
        return;
    }
    for (std::size_t count = 0; count <= 70; ++count) {
        check(count, count % 4);
    }
    for (std::size_t offset = 0; offset < 4; ++offset) {
        check(257, offset);
        check(4096 + 3, offset);
    }
}

/// Numbers between 1/4 and 4 of either sign, with random low bits; whole patterns where any is
/// fine.
Bytes tame_elements(DataType type, std::size_t count, unsigned seed) {
    Bytes bytes = random_elements(type, count, seed);
    if (!is_float(type) && !is_pair(type)) {
        return bytes;
    }
    std::mt19937 random(seed);
    const auto put = [&](auto value, std::size_t at) {
        std::memcpy(&bytes[at], &value, sizeof value);
    };
    const auto number = [&] {
        double size = 0.25 + static_cast<double>(random() % 3750) / 1000;
        size += 1e-9 * static_cast<double>(random() % 1000);
        return random() % 2 == 0 ? size : -size;
    };
    const std::size_t size = size_of(type);
    for (std::size_t i = 0; i < count * (is_complex(type) ? 2 : 1); ++i) {
        const std::size_t at = i * (is_complex(type) ? size / 2 : size);
        switch (type) {
            case DataType::float16:
                put(to_float16(static_cast<float>(number())), at);
                break;
            case DataType::bfloat16:
                put(to_bfloat16(static_cast<float>(number())), at);
                break;
            case DataType::float32:
            case DataType::complex_float:
            case DataType::float_int:
                put(static_cast<float>(number()), at);
                break;
            case DataType::float64:
            case DataType::complex_double:
            case DataType::double_int:
                put(number(), at);
                break;
            default:
                break;
        }
    }
    return bytes;
}

std::string pair_name(const testing::TestParamInfo<Pair>& info) {
    std::string name(to_string(static_cast<DataType>(std::get<0>(info.param))));
    name += '_';
    name += to_string(static_cast<Operation>(std::get<1>(info.param)));
    for (char& letter : name) {
        letter = letter == '-' ? '_' : letter;
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, Kernels,
                         testing::Combine(testing::Range(0, datatype_count),
                                          testing::Range(0, operation_count)),
                         pair_name);

// A sum must not tell on which processor it was made. Random patterns, but no NaN and no infinities
// come out: which NaN a sum gives is not specified.
TEST(Instructions, give_the_same_bits) {
    constexpr std::size_t count = 1031;
    for (int t = 0; t < datatype_count; ++t) {
        const auto type = static_cast<DataType>(t);
        for (int o = 0; o < operation_count; ++o) {
            const auto operation = static_cast<Operation>(o);
            const auto kernels = reduce_kernels(type, operation, Instructions::baseline);
            if (kernels.reduce == nullptr) {
                continue;
            }
            const Bytes source = tame_elements(type, count, 5),
                        start = tame_elements(type, count, 6);
            Bytes expected = start;
            kernels.reduce(expected.data(), expected.data(), source.data(), count);
            for (int i = 1; i <= static_cast<int>(best_instructions()); ++i) {
                const auto instructions = static_cast<Instructions>(i);
                Bytes target = start;
                reduce_kernels(type, operation, instructions)
                    .reduce(target.data(), target.data(), source.data(), count);
                EXPECT_EQ(std::memcmp(target.data(), expected.data(), target.size()), 0)
                    << to_string(type) << " " << to_string(operation) << " by "
                    << to_string(instructions);
            }
        }
    }
}

// Nor on which kind of processor: this checksum was made on x86-64.
TEST(Instructions, give_the_same_bits_on_every_machine) {
    if (sizeof(long) != 8) {
        GTEST_SKIP() << "pairs with a long are smaller here";
    }
    constexpr std::size_t count = 1031;
    std::uint32_t sum = 0;
    for (int t = 0; t < datatype_count; ++t) {
        for (int o = 0; o < operation_count; ++o) {
            const auto type = static_cast<DataType>(t);
            const auto kernels = reduce_kernels(type, static_cast<Operation>(o));
            if (kernels.reduce != nullptr) {
                const Bytes one = tame_elements(type, count, 7),
                            two = tame_elements(type, count, 8);
                Bytes target = tame_elements(type, count, 9);
                kernels.joint(target.data(), target.data(), one.data(), two.data(), count);
                sum = trefoil::crc32c(target.data(), target.size(), sum);
            }
        }
    }
    EXPECT_EQ(sum, 4201554604U);
}

// Ranks may combine in other orders: min and max must not care, not even about NaN and zeros.
template <typename T>
void expect_order_is_irrelevant(DataType type, Operation operation) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> values{T{0}, -T{0}, T{1}, -T{1}, infinity, -infinity, nan, -nan};
    const trefoil::ReduceKernel reduce = reduce_kernels(type, operation).reduce;
    const auto of = [reduce](T a, T b) {
        reduce(&a, &a, &b, 1);
        return a;
    };
    for (const T a : values) {
        for (const T b : values) {
            const T forward = of(a, b);
            const T backward = of(b, a);
            EXPECT_EQ(std::memcmp(&forward, &backward, sizeof(T)), 0) << a << " and " << b;
            for (const T c : values) {
                const T left = of(of(a, b), c);
                const T right = of(a, of(b, c));
                EXPECT_EQ(std::memcmp(&left, &right, sizeof(T)), 0) << a << ", " << b << ", " << c;
            }
        }
    }
}

TEST(MinAndMax, ignore_the_order) {
    for (const Operation operation : {Operation::min, Operation::max}) {
        expect_order_is_irrelevant<float>(DataType::float32, operation);
        expect_order_is_irrelevant<double>(DataType::float64, operation);
    }
}

bool ignores_order(DataType type, trefoil::ReduceKernel reduce) {
    constexpr std::size_t count = 1000;
    const Bytes a = random_elements(type, count, 1), b = random_elements(type, count, 2),
                c = random_elements(type, count, 3);
    const auto combined = [&](const Bytes& target, const Bytes& source) {
        Bytes result = target;
        reduce(result.data(), result.data(), source.data(), count);
        return result;
    };
    const Bytes first = combined(combined(a, b), c);
    return first == combined(a, combined(b, c)) && first == combined(combined(c, a), b) &&
           first == combined(b, combined(c, a));
}

// What `auto` relies on where it takes algorithms whose ranks combine in different orders.
TEST(SameInAnyOrder, holds_where_it_is_said) {
    int kinds = 0;
    for (int t = 0; t < datatype_count; ++t) {
        for (int o = 0; o < operation_count; ++o) {
            const auto type = static_cast<DataType>(t);
            const auto operation = static_cast<Operation>(o);
            const auto reduce = reduce_kernels(type, operation).reduce;
            if (reduce != nullptr && trefoil::same_in_any_order(type, operation)) {
                ++kinds;
                EXPECT_TRUE(ignores_order(type, reduce)) << t << " " << o;
            }
        }
    }
    EXPECT_EQ(kinds, 8 * 11 + 4 * 5 + 5 * 2);
    EXPECT_FALSE(trefoil::same_in_any_order(DataType::float32, Operation::sum));
    EXPECT_FALSE(trefoil::same_in_any_order(DataType::complex_float, Operation::prod));
}

TEST(Refusals, say_what_goes_with_the_type_and_with_the_operation) {
    EXPECT_EQ(trefoil::refusal(DataType::float_int, Operation::minloc), "");
    EXPECT_EQ(
        trefoil::refusal(DataType::float_int, Operation::sum)
            .find("sum makes no sense for float-int; float-int takes minloc and maxloc, and sum is "
                  "for int8, int16"),
        0U);
    EXPECT_NE(trefoil::refusal(DataType::float32, Operation::minloc)
                  .find("minloc is for float-int, double-int, long-int, 2int and short-int"),
              std::string::npos);
}

TEST(Names, are_those_that_users_type) {
    EXPECT_EQ(to_string(DataType::int8), "int8");
    EXPECT_EQ(to_string(DataType::uint64), "uint64");
    EXPECT_EQ(to_string(DataType::float16), "float16");
    EXPECT_EQ(to_string(DataType::bfloat16), "bfloat16");
    EXPECT_EQ(to_string(DataType::float32), "float");
    EXPECT_EQ(to_string(DataType::float64), "double");
    EXPECT_EQ(to_string(DataType::complex_double), "complex-double");
    EXPECT_EQ(to_string(DataType::int_int), "2int");
    EXPECT_EQ(to_string(DataType::short_int), "short-int");
    EXPECT_EQ(to_string(Operation::sum), "sum");
    EXPECT_EQ(to_string(Operation::logical_xor), "lxor");
}

TEST(Sizes, are_those_of_the_elements) {
    const std::array<std::size_t, datatype_count> sizes{
        1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 8, 16, 2 * sizeof(long), 8, 8};
    for (int i = 0; i < datatype_count; ++i) {
        EXPECT_EQ(size_of(static_cast<DataType>(i)), sizes[static_cast<std::size_t>(i)]) << i;
    }
}

TEST(UnknownValues, have_no_kernel_and_no_size) {
    const auto type = static_cast<DataType>(datatype_count);
    const auto operation = static_cast<Operation>(operation_count);
    EXPECT_EQ(size_of(type), 0U);
    EXPECT_EQ(to_string(type), "unknown type");
    EXPECT_EQ(to_string(operation), "unknown operation");
    EXPECT_EQ(reduce_kernels(type, Operation::sum).reduce, nullptr);
    EXPECT_EQ(reduce_kernels(DataType::float32, operation).joint, nullptr);
}

}  // namespace
