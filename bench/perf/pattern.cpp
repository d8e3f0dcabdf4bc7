// SPDX-License-Identifier: BSD-3-Clause
// Test data with exact results: what each rank contributes, and the reduction in plain integers.
#include "bench/perf/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trefoil::tool {

namespace {

/// Real and imaginary part, or the value and the index of a pair, whose padding need not be 0; what
/// a type does not have is 0.
struct Number {
    std::int64_t real = 0, imaginary = 0, padding = 0;
};

std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

bool is_complex(DataType type) {
    return traits_of(type).type_class == TypeClass::complex;
}

/// Up to this magnitude every integer is representable; integers wrap exactly, whatever happens.
std::int64_t exact_limit(DataType type) {
    constexpr std::int64_t enough = 1 << 24;
    const std::int64_t exact = traits_of(traits_of(type).part).exact_integers;
    return exact == 0 ? enough : std::min(exact, enough);
}

std::int64_t in_range(std::uint64_t hash, std::int64_t magnitude) {
    return static_cast<std::int64_t>(hash % (2 * magnitude + 1)) - magnitude;
}

/// Sums: |sum over any ranks| <= exact_limit. Beyond that many ranks, only some contribute.
Number sum_input(DataType type, std::uint64_t hash, std::int64_t place, Rank ranks) {
    const std::int64_t limit = exact_limit(type);
    if (place >= limit) {
        return {};
    }
    const std::int64_t magnitude = std::clamp<std::int64_t>(limit / ranks, 1, 100);
    return {in_range(hash, magnitude), is_complex(type) ? in_range(mix(hash), magnitude) : 0};
}

/// Products: units, and at most ten factors that are 2 (exact in every float) or 3 (never loses
/// bits of a wrapping integer, as 2 would).
Number product_input(DataType type, std::uint64_t hash, std::int64_t place) {
    const std::int64_t base = is_floating(type) ? 2 : 3;
    const std::int64_t magnitude = place < 10 && (hash & 1) != 0 ? base : 1;
    const std::int64_t value = (hash & 2) != 0 ? -magnitude : magnitude;
    return is_complex(type) && (hash & 4) != 0 ? Number{0, value} : Number{value, 0};
}

/// A pair has no bitwise operations, but is moved with all bits that it has.
Number bitwise_input(DataType type, Operation operation, std::uint64_t hash) {
    if (is_pair(type)) {
        return {static_cast<std::int64_t>(hash), static_cast<std::int64_t>(mix(hash)),
                static_cast<std::int64_t>(~hash)};
    }
    const std::uint64_t bit = std::uint64_t{hash & 1} << ((hash >> 8) % (8 * size_of(type)));
    const std::uint64_t value = operation == Operation::bitwise_and  ? ~bit
                                : operation == Operation::bitwise_or ? bit
                                                                     : hash;
    return {static_cast<std::int64_t>(value), 0};
}

/// And: now and then a zero; or: now and then not; xor: half and half.
Number logical_input(Operation operation, std::uint64_t hash, Rank ranks) {
    const bool rare = hash % (2 * static_cast<std::uint64_t>(ranks)) == 0;
    const bool value = operation == Operation::logical_and  ? !rare
                       : operation == Operation::logical_or ? rare
                                                            : hash % 2 == 0;
    // Any non-zero value is true; alone, a rank gets its input back unchanged.
    const std::int64_t truth = ranks == 1 ? 1 : static_cast<std::int64_t>(1 + (hash >> 8) % 100);
    return {value ? truth : 0, 0};
}

/// Few values, so that several ranks have the best one and the index decides. The lowest index is
/// not the lowest rank's.
Number located_input(std::uint64_t hash, std::int64_t place) {
    return {in_range(hash, 3), place, static_cast<std::int64_t>(mix(hash))};
}

Number input_of(DataType type, Operation operation, Rank rank, Rank ranks, std::size_t j,
                std::size_t variant) {
    const std::uint64_t cell = mix(j * ElementStream::variants + variant);
    const std::uint64_t hash = mix(cell ^ mix(static_cast<std::uint64_t>(rank) + 0x5bd1e995U));
    // Where this rank stands in a rotation of all ranks that differs from element to element.
    const auto place = static_cast<std::int64_t>((static_cast<std::uint64_t>(rank) + cell % 65536) %
                                                 static_cast<std::uint64_t>(ranks));
    switch (operation) {
        case Operation::sum:
        case Operation::average:
            return sum_input(type, hash, place, ranks);
        case Operation::prod:
            return product_input(type, hash, place);
        case Operation::min:
        case Operation::max:
            return {traits_of(type).type_class == TypeClass::unsigned_integer
                        ? static_cast<std::int64_t>(hash % 201)
                        : in_range(hash, 100),
                    0};
        case Operation::bitwise_and:
        case Operation::bitwise_or:
        case Operation::bitwise_xor:
            return bitwise_input(type, operation, hash);
        case Operation::minloc:
        case Operation::maxloc:
            return located_input(hash, place);
        default:
            return logical_input(operation, hash, ranks);
    }
}

/// Wraps, as integers of every width do.
std::int64_t multiply(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Of two pairs; `order` is negative where a has the better value.
Number located(std::int64_t order, Number a, Number b) {
    const Number& better = order < 0 || (order == 0 && a.imaginary < b.imaginary) ? a : b;
    return {better.real, better.imaginary};
}

Number combine(Operation operation, Number a, Number b) {
    switch (operation) {
        case Operation::sum:
        case Operation::average:
            return {a.real + b.real, a.imaginary + b.imaginary};
        case Operation::prod:
            return {multiply(a.real, b.real) - multiply(a.imaginary, b.imaginary),
                    multiply(a.real, b.imaginary) + multiply(a.imaginary, b.real)};
        case Operation::min:
            return {std::min(a.real, b.real), 0};
        case Operation::max:
            return {std::max(a.real, b.real), 0};
        case Operation::bitwise_and:
            return {a.real & b.real, 0};
        case Operation::bitwise_or:
            return {a.real | b.real, 0};
        case Operation::bitwise_xor:
            return {a.real ^ b.real, 0};
        case Operation::logical_and:
            return {a.real != 0 && b.real != 0, 0};
        case Operation::logical_or:
            return {a.real != 0 || b.real != 0, 0};
        case Operation::logical_xor:
            return {(a.real != 0) != (b.real != 0), 0};
        case Operation::minloc:
            return located(a.real - b.real, a, b);
        case Operation::maxloc:
            return located(b.real - a.real, a, b);
    }
    return {};
}

template <typename T>
void put(std::byte* target, T value) {
    std::memcpy(target, &value, sizeof value);
}

void store(DataType type, Number number, std::byte* target);

/// The index follows the value, where an int may begin.
void store_pair(DataType type, Number number, std::byte* target) {
    const DataType value = traits_of(type).part;
    const std::size_t at = std::max(size_of(value), sizeof(int));
    for (std::size_t begin = 0; begin < size_of(type); begin += sizeof(int)) {
        put(target + begin, static_cast<int>(number.padding));
    }
    store(value, number, target);
    put(target + at, static_cast<int>(number.imaginary));
}

void store(DataType type, Number number, std::byte* target) {
    if (is_pair(type)) {
        store_pair(type, number, target);
        return;
    }
    if (!is_floating(type)) {
        std::memcpy(target, &number.real, size_of(type));  // the low bytes: little-endian
        return;
    }
    const DataTypeTraits& part = traits_of(traits_of(type).part);
    part.from_double(static_cast<double>(number.real), target);
    if (is_complex(type)) {
        part.from_double(static_cast<double>(number.imaginary), target + part.bytes);
    }
}

/// `bytes` of a sum that may have wrapped, divided as the type does it.
std::int64_t divided(std::int64_t sum, std::size_t bytes, bool is_signed, Rank ranks) {
    const std::size_t unused = 64 - 8 * bytes;
    const auto high = static_cast<std::uint64_t>(sum) << unused;
    return is_signed
               ? (static_cast<std::int64_t>(high) >> unused) / ranks
               : static_cast<std::int64_t>((high >> unused) / static_cast<std::uint64_t>(ranks));
}

void store_average(DataType type, Number sum, Rank ranks, std::byte* target) {
    const DataTypeTraits& part = traits_of(traits_of(type).part);
    if (!is_floating(type)) {
        const bool is_signed = part.type_class == TypeClass::signed_integer;
        store(type, {divided(sum.real, part.bytes, is_signed, ranks)}, target);
        return;
    }
    part.from_double(static_cast<double>(sum.real) / ranks, target);
    if (is_complex(type)) {
        part.from_double(static_cast<double>(sum.imaginary) / ranks, target + part.bytes);
    }
}

/// Equal as numbers although not as bits: zeros of different sign.
bool equal_numbers(DataType type, const std::byte* a, const std::byte* b) {
    if (!is_floating(type)) {
        return false;
    }
    const DataTypeTraits& part = traits_of(traits_of(type).part);
    for (std::size_t at = 0; at < size_of(type); at += part.bytes) {
        if (part.to_double(a + at) != part.to_double(b + at)) {
            return false;
        }
    }
    return true;
}

/// In a product the magnitudes are near 1, so that it stays finite over many ranks.
double mixed_value(Operation operation, std::uint64_t hash, int exponents, Rank ranks) {
    const double fraction = static_cast<double>(mix(hash) >> 11) * 0x1p-53;  // fills a double
    const double sign = (hash & 1) != 0 ? -1.0 : 1.0;
    if (operation == Operation::prod) {
        return sign * (1.0 + fraction / ranks);
    }
    const int exponent = static_cast<int>((hash >> 8) % (2 * exponents + 1)) - exponents;
    return sign * std::ldexp(1.0 + fraction, exponent);
}

}  // namespace

ElementStream::ElementStream(DataType type)
    : type_(type), size_(size_of(type)), table_(variants * period * size_) {}

std::byte* ElementStream::element(std::size_t variant, std::size_t j) {
    return table_.data() + (variant * period + j) * size_;
}

/// visit(first element, elements, where they are in the table)
template <typename Visit>
void ElementStream::for_each_row(std::size_t count, std::uint64_t salt, Visit&& visit) const {
    std::size_t done = 0;
    std::size_t column = mix(salt) % period;
    for (std::uint64_t row = 0; done < count; ++row) {
        const std::size_t variant = mix(salt + row) % variants;
        const std::size_t here = std::min(period - column, count - done);
        visit(done, here, table_.data() + (variant * period + column) * size_);
        done += here;
        column = 0;
    }
}

void ElementStream::fill(void* target, std::size_t count, std::uint64_t salt) const {
    auto* bytes = static_cast<std::byte*>(target);
    for_each_row(count, salt, [&](std::size_t first, std::size_t n, const std::byte* from) {
        std::memcpy(bytes + first * size_, from, n * size_);
    });
}

std::size_t ElementStream::count_different(const void* data, std::size_t count,
                                           std::uint64_t salt) const {
    const auto* bytes = static_cast<const std::byte*>(data);
    std::size_t different = 0;
    for_each_row(count, salt, [&](std::size_t first, std::size_t n, const std::byte* expected) {
        if (std::memcmp(bytes + first * size_, expected, n * size_) != 0) {
            different += count_in_row(bytes + first * size_, expected, n);
        }
    });
    return different;
}

std::size_t ElementStream::count_in_row(const std::byte* data, const std::byte* expected,
                                        std::size_t count) const {
    std::size_t different = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* a = data + i * size_;
        const std::byte* b = expected + i * size_;
        different += std::memcmp(a, b, size_) != 0 && !equal_numbers(type_, a, b) ? 1 : 0;
    }
    return different;
}

ElementStream exact_input(DataType type, Operation operation, Rank rank, Rank ranks) {
    ElementStream stream(type);
    for (std::size_t variant = 0; variant < ElementStream::variants; ++variant) {
        for (std::size_t j = 0; j < ElementStream::period; ++j) {
            store(type, input_of(type, operation, rank, ranks, j, variant),
                  stream.element(variant, j));
        }
    }
    return stream;
}

ElementStream exact_result(DataType type, Operation operation, Rank ranks, Rank contributors) {
    ElementStream stream(type);
    for (std::size_t variant = 0; variant < ElementStream::variants; ++variant) {
        for (std::size_t j = 0; j < ElementStream::period; ++j) {
            Number total = input_of(type, operation, 0, ranks, j, variant);
            for (Rank rank = 1; rank < contributors; ++rank) {
                total =
                    combine(operation, total, input_of(type, operation, rank, ranks, j, variant));
            }
            if (operation == Operation::average) {
                store_average(type, total, ranks, stream.element(variant, j));
            } else {
                store(type, total, stream.element(variant, j));
            }
        }
    }
    return stream;
}

ElementStream mixed_magnitudes(DataType type, Operation operation, Rank rank, Rank ranks) {
    ElementStream stream(type);
    const int exponents = type == DataType::float16 ? 6 : 10;
    const DataTypeTraits& part = traits_of(traits_of(type).part);
    for (std::size_t variant = 0; variant < ElementStream::variants; ++variant) {
        for (std::size_t j = 0; j < ElementStream::period; ++j) {
            const std::uint64_t hash =
                mix(mix(j * ElementStream::variants + variant) ^ mix(~std::uint64_t(rank)));
            std::byte* target = stream.element(variant, j);
            part.from_double(mixed_value(operation, hash, exponents, ranks), target);
            if (is_complex(type)) {
                part.from_double(mixed_value(operation, mix(hash), exponents, ranks),
                                 target + part.bytes);
            }
        }
    }
    return stream;
}

std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    std::uint64_t hash = bytes;
    while (bytes > 0) {
        std::uint64_t word = 0;
        const std::size_t here = std::min(bytes, sizeof word);
        std::memcpy(&word, from, here);
        hash = (hash ^ word) * 0x9fb21c651e98df25U;
        hash ^= hash >> 32;
        from += here;
        bytes -= here;
    }
    return mix(hash);
}

}  // namespace trefoil::tool
