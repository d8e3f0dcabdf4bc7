// SPDX-License-Identifier: BSD-3-Clause
// Minloc and maxloc over real ports: every collective that reduces over all ranks, every algorithm,
// every type of pairs, with ties, and compared with all bits of the padding.
#include <cmath>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::minloc_test {
namespace {

using Bytes = std::vector<unsigned char>;

/// As a C program declares it.
template <typename T>
struct Located {
    T value;
    int index;
};

std::uint64_t scrambled(std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15U;
    return x ^ (x >> 29);
}

/// Few values, so that the best one is there several times, zeros of both signs among them.
template <typename T>
Located<T> input(int rank, std::size_t i) {
    const std::uint64_t hash = scrambled(i * 1009 + static_cast<std::uint64_t>(rank) + 1);
    const auto value = static_cast<int>(hash % 3) - 1;
    const bool negative = std::is_floating_point_v<T> && hash % 64 < 32;
    return {static_cast<T>(value == 0 && negative ? -0.0 : value),
            static_cast<int>((hash >> 8) % 50) - 20};
}

/// Of equal values the lower index; of zeros the one that min or max gives.
template <typename T>
Located<T> better(trefoil_op_t op, Located<T> a, Located<T> b) {
    const bool least = op == TREFOIL_MINLOC;
    if (a.value != b.value) {
        return (a.value < b.value) == least ? a : b;
    }
    const bool a_below = std::signbit(static_cast<double>(a.value));
    return {a_below == least ? a.value : b.value, std::min(a.index, b.index)};
}

template <typename T>
void append(Bytes& bytes, Located<T> pair, int padding) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof pair, static_cast<unsigned char>(padding));
    std::memcpy(&bytes[at], &pair.value, sizeof pair.value);
    std::memcpy(&bytes[at + offsetof(Located<T>, index)], &pair.index, sizeof pair.index);
}

/// What a rank sends: padding tells the ranks apart.
template <typename T>
Bytes inputs(int rank, std::size_t count) {
    Bytes bytes;
    for (std::size_t i = 0; i < count; ++i) {
        append(bytes, input<T>(rank, i), rank + 1);
    }
    return bytes;
}

/// Elements [first, first + count) of the reduction; alone, a rank gets its input back.
template <typename T>
Bytes results(trefoil_op_t op, int ranks, std::size_t first, std::size_t count) {
    Bytes bytes;
    for (std::size_t i = first; i < first + count; ++i) {
        Located<T> best = input<T>(0, i);
        for (int r = 1; r < ranks; ++r) {
            best = better(op, best, input<T>(r, i));
        }
        append(bytes, best, ranks == 1 ? 1 : 0);
    }
    return bytes;
}

struct Call {
    trefoil_comm_t comm;
    int rank, ranks;
    trefoil_datatype_t type;
    trefoil_op_t op;
    std::size_t count;
};

template <typename T>
void check_whole(const Call& c, Collective collective) {
    const bool all = collective == Collective::allreduce;
    const int root = c.ranks / 2;
    const Bytes send = inputs<T>(c.rank, c.count);
    for (const bool in_place : {false, true}) {
        const bool here = all || c.rank == root;
        Bytes recv = in_place && here ? send : Bytes(send.size(), 0xee);
        const void* from = in_place && here ? TREFOIL_IN_PLACE : send.data();
        ASSERT_EQ(all ? trefoil_allreduce(from, recv.data(), c.count, c.type, c.op, c.comm)
                      : trefoil_reduce(from, recv.data(), c.count, c.type, c.op, root, c.comm),
                  TREFOIL_SUCCESS)
            << trefoil_last_error(nullptr);
        if (here) {
            EXPECT_EQ(recv, results<T>(c.op, c.ranks, 0, c.count));
        }
    }
}

/// Blocks of equal length, and then of different ones.
template <typename T>
void check_scattered(const Call& c) {
    std::vector<std::size_t> counts;
    std::size_t before = 0, total = 0;
    for (int r = 0; r < c.ranks; ++r) {
        counts.push_back(c.count * static_cast<std::size_t>(r % 3));
        before += r < c.rank ? counts.back() : 0;
        total += counts.back();
    }
    const auto own = static_cast<std::size_t>(c.rank);
    const Bytes even = inputs<T>(c.rank, c.count * counts.size());
    Bytes recv(c.count * sizeof(Located<T>), 0xee);
    ASSERT_EQ(trefoil_reduce_scatter_block(even.data(), recv.data(), c.count, c.type, c.op, c.comm),
              TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    EXPECT_EQ(recv, results<T>(c.op, c.ranks, own * c.count, c.count));
    const Bytes uneven = inputs<T>(c.rank, total);
    recv.assign(counts[own] * sizeof(Located<T>), 0xee);
    ASSERT_EQ(
        trefoil_reduce_scatter(uneven.data(), recv.data(), counts.data(), c.type, c.op, c.comm),
        TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    EXPECT_EQ(recv, results<T>(c.op, c.ranks, before, counts[own]));
}

template <typename T>
void check_type(Call call, trefoil_datatype_t type, Collective collective) {
    ASSERT_EQ(trefoil_datatype_size(type), sizeof(Located<T>));
    call.type = type;
    for (const trefoil_op_t op : {TREFOIL_MINLOC, TREFOIL_MAXLOC}) {
        call.op = op;
        for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{501}}) {
            call.count = count;
            SCOPED_TRACE("type " + std::to_string(type) + " op " + std::to_string(op) + " count " +
                         std::to_string(count));
            if (collective == Collective::reduce_scatter) {
                check_scattered<T>(call);
            } else {
                check_whole<T>(call, collective);
            }
            if (testing::Test::HasFailure()) {
                return;
            }
        }
    }
}

/// One of the types in turn: an algorithm does not know the type, and all by all take minutes under
/// a sanitizer.
void check_next_type(const Call& call, Collective collective, int turn) {
    switch (turn % 5) {
        case 0:
            return check_type<float>(call, TREFOIL_FLOAT_INT, collective);
        case 1:
            return check_type<double>(call, TREFOIL_DOUBLE_INT, collective);
        case 2:
            return check_type<long>(call, TREFOIL_LONG_INT, collective);
        case 3:
            return check_type<int>(call, TREFOIL_2INT, collective);
        default:
            return check_type<short>(call, TREFOIL_SHORT_INT, collective);
    }
}

void check_algorithms(const std::string& shape, int port_threads) {
    const Torus torus = Torus::parse(shape);
    JobOptions options;
    options.torus = shape;
    options.port_threads = port_threads;
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int turn = torus.ranks();  // so that the tori differ
        for (const Algorithm& a : algorithms()) {
            const CollectiveTraits& row = traits_of(a.collective);
            if (!row.reduces || row.is_prefix() || !a.refusal(torus).empty()) {
                continue;
            }
            SCOPED_TRACE(std::string(to_string(a.collective)) + " by " + std::string(a.name) +
                         " on " + shape + ", rank " + std::to_string(rank));
            const std::string collective(to_string(a.collective));
            ASSERT_EQ(
                trefoil_comm_set_algorithm(comm, collective.c_str(), std::string(a.name).c_str()),
                TREFOIL_SUCCESS);
            check_next_type({comm, rank, torus.ranks(), TREFOIL_2INT, TREFOIL_MINLOC, 0},
                            a.collective, turn++);
        }
    });
}

class MinlocShapes : public testing::TestWithParam<const char*> {};

TEST_P(MinlocShapes, EveryAlgorithmFindsTheLowestIndexOfTheBest) {
    check_algorithms(GetParam(), -1);
}

INSTANTIATE_TEST_SUITE_P(Tori, MinlocShapes, testing::Values("1", "2", "5", "3x3", "2x3", "2x2x2"),
                         name_of_shape);

TEST(Minloc, EveryAlgorithmFindsItWithAThreadPerPort) {
    check_algorithms("2x2", 4);
}

TEST(Minloc, VectorsOfManySegmentsAreRight) {
    constexpr std::size_t count = 150'001;  // 2.4 MB: several segments, the last one shorter
    JobOptions options;
    options.torus = "3x3";
    run_ranks(9, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        for (const char* name : {"trivance-b", "bucket"}) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", name), TREFOIL_SUCCESS);
            check_whole<double>({comm, rank, 9, TREFOIL_DOUBLE_INT, TREFOIL_MINLOC, count},
                                Collective::allreduce);
        }
    });
}

}  // namespace
}  // namespace trefoil::test::minloc_test
