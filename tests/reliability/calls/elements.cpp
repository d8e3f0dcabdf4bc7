// SPDX-License-Identifier: BSD-3-Clause
// Values and reductions, type by type.
#include "tests/reliability/calls/elements.hpp"

#include <cstring>
#include <type_traits>

namespace trefoil::calls {

namespace {

struct Half {
    std::uint16_t bits;
};
struct Brain {
    std::uint16_t bits;
};
template <typename T>
struct Complex {
    T real, imaginary;
};
template <typename T>
struct Pair {
    T value;
    int index;
};
struct Function {
    std::uint64_t a, b;
};
struct Triple {
    std::uint32_t parts[3];
};

template <typename Visit>
auto with_type_of(const Elements& elements, Visit&& visit) {
    switch (elements.operation) {
        case Operation::add:
            return visit(std::uint64_t());
        case Operation::compose:
            return visit(Function());
        case Operation::triples:
            return visit(Triple());
        default:
            break;
    }
    switch (elements.type) {
        case TREFOIL_INT8:
            return visit(std::int8_t());
        case TREFOIL_INT16:
            return visit(std::int16_t());
        case TREFOIL_INT32:
            return visit(std::int32_t());
        case TREFOIL_UINT8:
            return visit(std::uint8_t());
        case TREFOIL_UINT16:
            return visit(std::uint16_t());
        case TREFOIL_UINT32:
            return visit(std::uint32_t());
        case TREFOIL_UINT64:
            return visit(std::uint64_t());
        case TREFOIL_FLOAT16:
            return visit(Half());
        case TREFOIL_BFLOAT16:
            return visit(Brain());
        case TREFOIL_FLOAT:
            return visit(float());
        case TREFOIL_DOUBLE:
            return visit(double());
        case TREFOIL_COMPLEX_FLOAT:
            return visit(Complex<float>());
        case TREFOIL_COMPLEX_DOUBLE:
            return visit(Complex<double>());
        case TREFOIL_FLOAT_INT:
            return visit(Pair<float>());
        case TREFOIL_DOUBLE_INT:
            return visit(Pair<double>());
        case TREFOIL_LONG_INT:
            return visit(Pair<long>());
        case TREFOIL_2INT:
            return visit(Pair<int>());
        case TREFOIL_SHORT_INT:
            return visit(Pair<short>());
        default:
            return visit(std::int64_t());
    }
}

bool is_logical(Operation operation) {
    return operation >= Operation::land && operation <= Operation::lxor;
}

/// The bits of a number of this layout, from those of a hash. Products stay below 1.
std::uint64_t floating(Operation operation, std::uint64_t hash, int mantissa, int exponent) {
    if (is_logical(operation) && hash % 4 == 0) {
        return 0;
    }
    const std::uint64_t bias = (std::uint64_t{1} << (exponent - 1)) - 1;
    const std::uint64_t power =
        operation == Operation::prod ? bias - 1 : bias - 6 + (hash >> 3) % 13;
    const std::uint64_t sign = hash >> 2 & 1;
    return sign << (mantissa + exponent) | power << mantissa | hash >> (64 - mantissa);
}

void make(Operation operation, std::uint64_t hash, Half& to) {
    to.bits = static_cast<std::uint16_t>(floating(operation, hash, 10, 5));
}
void make(Operation operation, std::uint64_t hash, Brain& to) {
    to.bits = static_cast<std::uint16_t>(floating(operation, hash, 7, 8));
}
void make(Operation operation, std::uint64_t hash, float& to) {
    const auto bits = static_cast<std::uint32_t>(floating(operation, hash, 23, 8));
    std::memcpy(&to, &bits, sizeof to);
}
void make(Operation operation, std::uint64_t hash, double& to) {
    const std::uint64_t bits = floating(operation, hash, 52, 11);
    std::memcpy(&to, &bits, sizeof to);
}
template <typename T>
void make(Operation operation, std::uint64_t hash, Complex<T>& to) {
    make(operation, hash, to.real);
    make(operation, mix(hash), to.imaginary);
}
/// Few values, so that indices decide.
template <typename T>
void make(Operation /*operation*/, std::uint64_t hash, Pair<T>& to) {
    std::memset(static_cast<void*>(&to), 0, sizeof to);
    to.value = static_cast<T>(static_cast<int>(hash % 5) - 2);
    to.index = static_cast<int>((hash >> 8) % 1000);
}
void make(Operation /*operation*/, std::uint64_t hash, Function& to) {
    to = {hash | 1, mix(hash)};
}
void make(Operation /*operation*/, std::uint64_t hash, Triple& to) {
    for (auto& part : to.parts) {
        part = static_cast<std::uint32_t>(hash = mix(hash));
    }
}
/// Odd factors: even ones would soon leave nothing but 0.
template <typename T>
requires std::is_integral_v<T>
void make(Operation operation, std::uint64_t hash, T& to) {
    const bool zero = is_logical(operation) && hash % 4 == 0;
    to = zero ? T{0} : static_cast<T>(hash >> 8 | (operation == Operation::prod ? 1 : 0));
}

/// a becomes a op b. False: nobody knows without the order.
template <typename T>
requires std::is_arithmetic_v<T>
bool combine(Operation operation, T& a, const T& b) {
    switch (operation) {
        case Operation::min:
            a = b < a ? b : a;
            return true;
        case Operation::max:
            a = a < b ? b : a;
            return true;
        case Operation::land:
            a = static_cast<T>(a != 0 && b != 0);
            return true;
        case Operation::lor:
            a = static_cast<T>(a != 0 || b != 0);
            return true;
        case Operation::lxor:
            a = static_cast<T>((a != 0) != (b != 0));
            return true;
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
        a = static_cast<T>(operation == Operation::prod   ? x * y
                           : operation == Operation::band ? x & y
                           : operation == Operation::bor  ? x | y
                           : operation == Operation::bxor ? x ^ y
                                                          : x + y);
    }
    return std::is_integral_v<T>;
}
template <typename T>
bool combine(Operation operation, Pair<T>& a, const Pair<T>& b) {
    const bool better = operation == Operation::minloc ? b.value < a.value : a.value < b.value;
    if (better || (b.value == a.value && b.index < a.index)) {
        a = b;
    }
    return true;
}
bool combine(Operation /*operation*/, Function& a, const Function& b) {
    a = {a.a * b.a, a.b * b.a + b.b};  // first a, then b
    return true;
}
bool combine(Operation /*operation*/, Triple& a, const Triple& b) {
    for (int i = 0; i < 3; ++i) {
        a.parts[i] += b.parts[i];
    }
    return true;
}
template <typename T>
bool combine(Operation /*operation*/, T& /*a*/, const T& /*b*/) {
    return false;
}

/// As a program writes one: inout[i] = in[i] op inout[i].
template <typename T>
void reduce(const void* in, void* inout, std::size_t count, void* /*context*/) {
    const auto* from = static_cast<const std::byte*>(in);
    auto* to = static_cast<std::byte*>(inout);
    for (std::size_t i = 0; i < count; ++i, from += sizeof(T), to += sizeof(T)) {
        T a, b;
        std::memcpy(&a, from, sizeof a);
        std::memcpy(&b, to, sizeof b);
        (void)combine(Operation::add, a, b);
        std::memcpy(to, &a, sizeof a);
    }
}

template <typename T>
void divide(T& sum, int ranks) {
    if constexpr (std::is_integral_v<T>) {
        sum = static_cast<T>(sum / static_cast<T>(ranks));
    }
}

}  // namespace

std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

const char* name_of(Operation operation) {
    constexpr std::array<const char*, operations> names{
        "sum", "prod", "min",    "max",    "band", "bor", "bxor",    "land",
        "lor", "lxor", "minloc", "maxloc", "avg",  "add", "compose", "triples"};
    return names[static_cast<std::size_t>(operation)];
}

bool suits(Operation operation, trefoil_datatype_t type) {
    const bool pair = type >= TREFOIL_FLOAT_INT && type <= TREFOIL_SHORT_INT;
    const bool locates = operation == Operation::minloc || operation == Operation::maxloc;
    if (is_created(operation) || pair || locates) {
        return is_created(operation) || pair == locates;
    }
    const bool sums =
        operation == Operation::sum || operation == Operation::prod || operation == Operation::avg;
    if (type == TREFOIL_COMPLEX_FLOAT || type == TREFOIL_COMPLEX_DOUBLE) {
        return sums;
    }
    const bool bitwise = operation >= Operation::band && operation <= Operation::bxor;
    return type <= TREFOIL_UINT64 || !bitwise;
}

Created created(Operation operation) {
    switch (operation) {
        case Operation::compose:
            return {reduce<Function>, sizeof(Function), false};
        case Operation::triples:
            return {reduce<Triple>, sizeof(Triple), true};
        default:
            return {reduce<std::uint64_t>, sizeof(std::uint64_t), true};
    }
}

std::size_t Elements::bytes() const {
    return with_type_of(*this, [](auto zero) { return sizeof zero; });
}

void fill(const Elements& elements, std::uint64_t stream, std::size_t first, std::size_t count,
          std::byte* to) {
    with_type_of(elements, [&](auto element) {
        for (std::size_t i = 0; i < count; ++i) {
            make(elements.operation, mix(stream + first + i), element);
            std::memcpy(to + i * sizeof element, &element, sizeof element);
        }
    });
}

bool has_one_result(const Elements& elements) {
    return with_type_of(elements, [&](auto a) {
        make(elements.operation, 1, a);
        const auto b = a;
        return combine(elements.operation, a, b);
    });
}

void fold(const Elements& elements, StreamOf stream, std::uint64_t salt, int ranks, int all,
          std::size_t first, std::size_t count, std::byte* to) {
    with_type_of(elements, [&](auto sum) {
        for (std::size_t i = first; i < first + count; ++i) {
            make(elements.operation, mix(stream(salt, 0) + i), sum);
            for (int r = 1; r < ranks; ++r) {
                auto next = sum;
                make(elements.operation, mix(stream(salt, static_cast<std::uint64_t>(r)) + i),
                     next);
                (void)combine(elements.operation, sum, next);
            }
            if (elements.operation == Operation::avg) {
                divide(sum, all);
            }
            std::memcpy(to + (i - first) * sizeof sum, &sum, sizeof sum);
        }
    });
}

}  // namespace trefoil::calls
