// SPDX-License-Identifier: BSD-3-Clause
// Blocks that lie before their buffer, backwards or over each other: types of negative extent or
// negative lower bound, and negative displacements.
#include <algorithm>
#include <array>
#include <functional>

#include "check.hpp"

namespace trefoil::mpi::test {

namespace {

constexpr int origin = 400;  // of each buffer, in ints; data lie on both sides of it

/// A datatype of ints, and where it puts them.
struct Shape {
    MPI_Datatype type;
    std::vector<int> offsets;  ///< of the ints of one element
    int extent;                ///< in ints

    int ints() const { return static_cast<int>(offsets.size()); }
    std::size_t place(int element, int i) const {
        return static_cast<std::size_t>(origin + element * extent +
                                        offsets[static_cast<std::size_t>(i)]);
    }
};

/// All in ints: one at each of `offsets`.
Shape make(std::vector<int> offsets, int lower, int extent) {
    std::vector<MPI_Aint> at;
    for (const int offset : offsets) {
        at.push_back(offset * static_cast<MPI_Aint>(sizeof(int)));
    }
    MPI_Datatype bare = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(static_cast<int>(at.size()), 1, at.data(), MPI_INT, &bare);
    MPI_Type_create_resized(bare, lower * static_cast<MPI_Aint>(sizeof(int)),
                            extent * static_cast<MPI_Aint>(sizeof(int)), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&bare);
    return {type, std::move(offsets), extent};
}

/// The `element`-th of what `from` sends `to`, in its i-th int.
int sent(int from, int to, int element, int i) {
    return 1 + 10000 * from + 100 * to + 10 * element + i;
}

using Buffer = std::vector<int>;

/// One of a rank's buffers: of each peer `count(peer)` elements, from element `first(peer)` on.
struct Blocks {
    const Shape& shape;
    std::vector<int> counts, firsts;

    /// Blocks `gap` apart, from `begin` on; a negative gap: from last to first.
    Blocks(const Shape& its_shape, int begin, int gap, int blocks = ranks)
        : shape(its_shape), counts(static_cast<std::size_t>(blocks), 1) {
        for (int r = 0; r < blocks; ++r) {
            firsts.push_back(begin + r * gap);
        }
    }
    /// Of 1 to `most` elements.
    Blocks& up_to(int most, int me) {
        for (std::size_t r = 0; r < counts.size(); ++r) {
            counts[r] = 1 + (me + static_cast<int>(r)) % most;
        }
        return *this;
    }
    template <typename Value>
    void fill(Buffer& buffer, Value&& value) const {
        for (std::size_t r = 0; r < counts.size(); ++r) {
            for (int e = 0; e < counts[r]; ++e) {
                for (int i = 0; i < shape.ints(); ++i) {
                    buffer[shape.place(firsts[r] + e, i)] = value(static_cast<int>(r), e, i);
                }
            }
        }
    }
    /// As alltoallw wants displacements.
    std::vector<int> bytes() const {
        std::vector<int> list;
        for (const int first : firsts) {
            list.push_back(first * shape.extent * static_cast<int>(sizeof(int)));
        }
        return list;
    }
};

void check_exchange(const Shape& from, const Shape& to, int most, int begin, int gap) {
    Blocks out(from, begin, gap), in(to, begin, gap);
    out.up_to(most, rank);
    in.up_to(most, rank);
    Buffer send(2 * origin, -1), expected(2 * origin, -1);
    out.fill(send, [](int r, int e, int i) { return sent(rank, r, e, i); });
    in.fill(expected, [](int r, int e, int i) { return sent(r, rank, e, i); });
    Buffer recv(2 * origin, -1);
    EXPECT(MPI_Alltoallv(send.data() + origin, out.counts.data(), out.firsts.data(), from.type,
                         recv.data() + origin, in.counts.data(), in.firsts.data(), to.type,
                         MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(recv == expected);
    const std::vector<MPI_Datatype> from_types(static_cast<std::size_t>(ranks), from.type);
    const std::vector<MPI_Datatype> to_types(static_cast<std::size_t>(ranks), to.type);
    const std::vector<int> out_bytes = out.bytes(), in_bytes = in.bytes();
    std::ranges::fill(recv, -1);
    EXPECT(MPI_Alltoallw(send.data() + origin, out.counts.data(), out_bytes.data(),
                         from_types.data(), recv.data() + origin, in.counts.data(), in_bytes.data(),
                         to_types.data(), MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(recv == expected);
}

/// All send rank 0 and all of them its like; then it sends it back.
void check_gathering(const Shape& from, const Shape& to, int most, int begin, int gap) {
    Blocks in(to, begin, gap), own(from, 0, 0, 1);
    const int count = in.up_to(most, 0).counts[static_cast<std::size_t>(rank)];
    own.counts = {count};
    Buffer send(2 * origin, -1), expected(2 * origin, -1), recv(2 * origin, -1);
    own.fill(send, [](int, int e, int i) { return sent(rank, 0, e, i); });
    in.fill(expected, [](int r, int e, int i) { return sent(r, 0, e, i); });
    EXPECT(MPI_Allgatherv(send.data() + origin, count, from.type, recv.data() + origin,
                          in.counts.data(), in.firsts.data(), to.type,
                          MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(recv == expected);
    std::ranges::fill(recv, -1);
    EXPECT(MPI_Gatherv(send.data() + origin, count, from.type, recv.data() + origin,
                       in.counts.data(), in.firsts.data(), to.type, 0,
                       MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(rank != 0 || recv == expected);
    Buffer back(2 * origin, -1);
    EXPECT(MPI_Scatterv(expected.data() + origin, in.counts.data(), in.firsts.data(), to.type,
                        back.data() + origin, count, from.type, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(back == send);
}

/// One element for each rank, or one in all.
void check_equal_blocks(const Shape& from, const Shape& to) {
    const Blocks all(to, 0, 1), own(from, 0, 0, 1), each(from, 0, 1);
    Buffer send(2 * origin, -1), gathered(2 * origin, -1), recv(2 * origin, -1);
    own.fill(send, [](int, int e, int i) { return sent(rank, 0, e, i); });
    all.fill(gathered, [](int r, int e, int i) { return sent(r, 0, e, i); });
    EXPECT(MPI_Allgather(send.data() + origin, 1, from.type, recv.data() + origin, 1, to.type,
                         MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(recv == gathered);
    std::ranges::fill(recv, -1);
    EXPECT(MPI_Gather(send.data() + origin, 1, from.type, recv.data() + origin, 1, to.type, 0,
                      MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(rank != 0 || recv == gathered);
    std::ranges::fill(recv, -1);
    EXPECT(MPI_Scatter(gathered.data() + origin, 1, to.type, recv.data() + origin, 1, from.type, 0,
                       MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(recv == send);
    Buffer out(2 * origin, -1), expected(2 * origin, -1);
    each.fill(out, [](int r, int e, int i) { return sent(rank, r, e, i); });
    all.fill(expected, [](int r, int e, int i) { return sent(r, rank, e, i); });
    std::ranges::fill(recv, -1);
    EXPECT(MPI_Alltoall(out.data() + origin, 1, from.type, recv.data() + origin, 1, to.type,
                        MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(recv == expected);
    const Shape& shape = rank == 0 ? from : to;
    Blocks told(shape, 0, 0, 1);
    told.counts = {3};
    Buffer text(2 * origin, -1), right(2 * origin, -1);
    told.fill(right, [](int, int e, int i) { return sent(0, 0, e, i); });
    if (rank == 0) {
        text = right;
    }
    EXPECT(MPI_Bcast(text.data() + origin, 3, shape.type, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(text == right);
}

/// With the two neighbours in a ring.
void check_neighbours(const Shape& from, const Shape& to, int begin, int gap) {
    MPI_Comm ring = MPI_COMM_NULL;
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    const std::array<int, 2> peers{(rank + ranks - 1) % ranks, (rank + 1) % ranks};
    const Blocks out(from, begin, gap, 2), in(to, begin, gap, 2), own(from, 0, 0, 1);
    Buffer send(2 * origin, -1), expected(2 * origin, -1), recv(2 * origin, -1);
    // What the left one has sent to its right comes first.
    out.fill(send, [](int p, int e, int i) { return sent(rank, p, e, i); });
    in.fill(expected, [&](int p, int e, int i) {
        return sent(peers[static_cast<std::size_t>(p)], 1 - p, e, i);
    });
    EXPECT(MPI_Neighbor_alltoallv(send.data() + origin, out.counts.data(), out.firsts.data(),
                                  from.type, recv.data() + origin, in.counts.data(),
                                  in.firsts.data(), to.type, ring) == MPI_SUCCESS);
    EXPECT(recv == expected);
    const std::array<MPI_Datatype, 2> from_types{from.type, from.type}, to_types{to.type, to.type};
    std::vector<MPI_Aint> out_bytes, in_bytes;
    std::ranges::copy(out.bytes(), std::back_inserter(out_bytes));
    std::ranges::copy(in.bytes(), std::back_inserter(in_bytes));
    std::ranges::fill(recv, -1);
    EXPECT(MPI_Neighbor_alltoallw(send.data() + origin, out.counts.data(), out_bytes.data(),
                                  from_types.data(), recv.data() + origin, in.counts.data(),
                                  in_bytes.data(), to_types.data(), ring) == MPI_SUCCESS);
    EXPECT(recv == expected);
    std::ranges::fill(send, -1);
    std::ranges::fill(expected, -1);
    std::ranges::fill(recv, -1);
    own.fill(send, [](int, int e, int i) { return sent(rank, 0, e, i); });
    in.fill(expected,
            [&](int p, int e, int i) { return sent(peers[static_cast<std::size_t>(p)], 0, e, i); });
    EXPECT(MPI_Neighbor_allgatherv(send.data() + origin, 1, from.type, recv.data() + origin,
                                   in.counts.data(), in.firsts.data(), to.type,
                                   ring) == MPI_SUCCESS);
    EXPECT(recv == expected);
    MPI_Comm_free(&ring);
}

}  // namespace

void check_layouts() {
    std::vector<Shape> shapes{
        make({0}, 0, 1),          // plain
        make({0}, 0, -2),         // from last to first
        make({0}, -1, 3),         // room before each
        make({-2}, -2, 2),        // before its place
        make({0, 1}, 0, -3),      // without gaps, from last to first
        make({1, 0}, 0, 2),       // backwards in itself
        make({0, -3}, -3, 5),     // both
        make({2, 0, -2}, 3, -7),  // and with a negative extent
    };
    for (const Shape& from : shapes) {
        for (const Shape& to : shapes) {
            if (from.ints() != to.ints()) {
                continue;
            }
            for (const int begin : {0, -5}) {
                for (const int most : {1, 2}) {
                    check_exchange(from, to, most, begin, 2);
                    check_exchange(from, to, most, begin, -2);
                    check_gathering(from, to, most, begin, 2);
                    check_gathering(from, to, most, begin, -2);
                }
                if (ranks > 2) {  // else both neighbours are one, and MPICH's order is its own
                    check_neighbours(from, to, begin, 2);
                }
            }
            if (from.extent > 0 && to.extent > 0) {  // Open MPI's allgather takes no others
                check_equal_blocks(from, to);
            }
        }
    }
    // What is sent may overlap.
    const Shape wide = make({0, 1}, 0, 1), apart = make({0, 1}, 0, 2);
    Buffer send(2 * origin), recv(2 * origin, -1), expected(2 * origin, -1);
    for (std::size_t i = 0; i < send.size(); ++i) {
        send[i] = input(rank, static_cast<int>(i));
    }
    const Blocks all(apart, 0, 1);
    all.fill(expected, [](int r, int, int i) { return input(r, origin + rank + i); });
    EXPECT(MPI_Alltoallv(send.data() + origin, all.counts.data(), all.firsts.data(), wide.type,
                         recv.data() + origin, all.counts.data(), all.firsts.data(), apart.type,
                         MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(recv == expected);
    shapes.push_back(wide);
    shapes.push_back(apart);
    for (Shape& shape : shapes) {
        MPI_Type_free(&shape.type);
    }
}

}  // namespace trefoil::mpi::test
