// SPDX-License-Identifier: BSD-3-Clause
// How layouts are drawn, so that no two elements share memory.
#include "layouts.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace trefoil::mpi::test {

namespace {

struct Bounds {
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
};

Bounds bounds_of(MPI_Datatype type) {
    Bounds bounds;
    MPI_Type_get_extent(type, &bounds.lower, &bounds.extent);
    MPI_Type_get_true_extent(type, &bounds.true_lower, &bounds.true_extent);
    return bounds;
}

/// `from`, which ends, with other bounds.
MPI_Datatype resized(MPI_Datatype from, MPI_Aint lower, MPI_Aint extent) {
    MPI_Datatype to = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(from, lower, extent, &to);
    MPI_Type_free(&from);
    return to;
}

/// Some number that divides `elements`.
int divisor(Draw& draw, int elements) {
    std::vector<int> all;
    for (int d = 1; d <= elements && all.size() < 64; ++d) {
        if (elements % d == 0) {
            all.push_back(d);
        }
    }
    return draw.of(all);
}

MPI_Datatype draw_vector(Draw& draw, MPI_Datatype basic, int elements) {
    const int length = divisor(draw, elements), blocks = elements / length;
    const int stride = (length + draw.below(3)) * (draw.chance(50) ? -1 : 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (draw.chance(50)) {
        MPI_Type_vector(blocks, length, stride, basic, &type);
    } else {
        MPI_Type_create_hvector(blocks, length, stride * bounds_of(basic).extent, basic, &type);
    }
    return type;
}

MPI_Datatype draw_indexed(Draw& draw, MPI_Datatype basic, int elements) {
    std::vector<int> lengths, places;
    for (int left = elements; left > 0; left -= lengths.back()) {
        lengths.push_back(lengths.size() < 20 ? draw.between(1, left) : left);
    }
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (draw.chance(70)) {
        draw.shuffle(order);
    }
    places.resize(lengths.size());
    int end = draw.chance(50) ? 0 : draw.between(-9, 9);
    for (const std::size_t block : order) {
        places[block] = end + (draw.chance(50) ? 0 : draw.below(3));
        end = places[block] + lengths[block];
    }
    const int count = static_cast<int>(lengths.size());
    MPI_Datatype type = MPI_DATATYPE_NULL;
    switch (draw.below(3)) {
        case 0:
            MPI_Type_indexed(count, lengths.data(), places.data(), basic, &type);
            break;
        case 1: {
            std::vector<MPI_Aint> bytes;
            for (const int place : places) {
                bytes.push_back(place * bounds_of(basic).extent);
            }
            MPI_Type_create_hindexed(count, lengths.data(), bytes.data(), basic, &type);
            break;
        }
        default: {
            std::vector<MPI_Aint> bytes;
            for (const int place : places) {
                bytes.push_back(place * bounds_of(basic).extent);
            }
            const std::vector<MPI_Datatype> types(lengths.size(), basic);
            MPI_Type_create_struct(count, lengths.data(), bytes.data(), types.data(), &type);
        }
    }
    return type;
}

MPI_Datatype draw_subarray(Draw& draw, MPI_Datatype basic, int elements) {
    const int columns = divisor(draw, elements);
    const std::array<int, 2> part{elements / columns, columns};
    const std::array<int, 2> begin{draw.below(3), draw.below(3)};
    const std::array<int, 2> whole{part[0] + begin[0] + draw.below(2),
                                   part[1] + begin[1] + draw.below(2)};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(2, whole.data(), part.data(), begin.data(),
                             draw.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, basic, &type);
    return type;
}

/// Not committed; one element after the other has its own memory.
MPI_Datatype draw_open(Draw& draw, MPI_Datatype basic, int elements, bool backwards, int depth) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    switch (draw.below(depth > 0 ? 6 : 4)) {
        case 0:
            MPI_Type_contiguous(elements, basic, &type);
            break;
        case 1:
            type = draw_vector(draw, basic, elements);
            break;
        case 2:
            type = draw_indexed(draw, basic, elements);
            break;
        case 3:
            type = draw_subarray(draw, basic, elements);
            break;
        default: {
            const int outer = divisor(draw, elements);
            MPI_Datatype inner = draw_open(draw, basic, elements / outer, backwards, depth - 1);
            type = draw_open(draw, inner, outer, backwards, 0);
            MPI_Type_free(&inner);
        }
    }
    const Bounds bounds = bounds_of(type);
    // A multiple of 16, so that all stays aligned.
    const MPI_Aint whole = (bounds.true_extent + 15) / 16 * 16 + (draw.chance(50) ? 0 : 16);
    if (backwards && draw.chance(25)) {
        return resized(type, bounds.true_lower, -whole);
    }
    if (draw.chance(15)) {
        return resized(type, bounds.true_lower - 16 * draw.below(3), whole);
    }
    return std::abs(bounds.extent) < bounds.true_extent || bounds.extent < 0
               ? resized(type, bounds.true_lower, whole)
               : type;
}

}  // namespace

MPI_Datatype draw_layout(Draw& draw, MPI_Datatype basic, int elements, bool backwards) {
    MPI_Datatype type = draw_open(draw, basic, elements, backwards, 2);
    if (draw.chance(10)) {
        MPI_Datatype copy = MPI_DATATYPE_NULL;
        MPI_Type_dup(type, &copy);
        MPI_Type_free(&type);
        type = copy;
    }
    MPI_Type_commit(&type);
    return type;
}

void Buffer::make(std::ptrdiff_t low, std::ptrdiff_t high, std::uint64_t seed) {
    constexpr std::ptrdiff_t around = 64;
    const std::ptrdiff_t before = (around - low + 15) / 16 * 16;
    memory.resize(static_cast<std::size_t>(before + high + around + 7) / 8 * 8);
    for (std::size_t i = 0; i < memory.size(); i += 8) {
        const std::uint64_t word = hash_of({seed, i});
        std::memcpy(&memory[i], &word, 8);
    }
    base = memory.data() + before;
}

void Buffer::make(MPI_Datatype type, const std::vector<Block>& blocks, std::uint64_t seed) {
    const Bounds bounds = bounds_of(type);
    std::ptrdiff_t low = 0, high = 0;
    for (const Block& block : blocks) {
        if (block.count > 0) {
            for (const std::ptrdiff_t e : {block.first, block.first + block.count - 1}) {
                low = std::min(low, e * bounds.extent + bounds.true_lower);
                high = std::max(high, e * bounds.extent + bounds.true_lower + bounds.true_extent);
            }
        }
    }
    make(low, high, seed);
}

void Buffer::make_plain(std::size_t bytes, std::uint64_t seed) {
    make(0, static_cast<std::ptrdiff_t>(bytes), seed);
}

}  // namespace trefoil::mpi::test
