// SPDX-License-Identifier: BSD-3-Clause
// Reductions: types, operations, in place and not, predefined and the user's.
#include <complex>
#include <type_traits>

#include "check.hpp"

namespace trefoil::mpi::test {

namespace {

template <typename T>
void check_sum(MPI_Datatype type, int count) {
    std::vector<T> send(static_cast<std::size_t>(count)), recv(send);
    for (int i = 0; i < count; ++i) {
        send[static_cast<std::size_t>(i)] = static_cast<T>((rank + i) % 5);
    }
    const auto expected = [](int i) {
        int sum = 0;
        for (int r = 0; r < ranks; ++r) {
            sum += (r + i) % 5;
        }
        return static_cast<T>(sum);
    };
    const auto all_right = [&](const std::vector<T>& got, int first, int number) {
        for (int i = 0; i < number; ++i) {
            if (got[static_cast<std::size_t>(i)] != expected(first + i)) {
                return false;
            }
        }
        return true;
    };
    EXPECT(MPI_Allreduce(send.data(), recv.data(), count, type, MPI_SUM, MPI_COMM_WORLD) == 0);
    EXPECT(all_right(recv, 0, count));
    recv = send;
    MPI_Allreduce(MPI_IN_PLACE, recv.data(), count, type, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(all_right(recv, 0, count));
    for (const int root : {0, ranks - 1}) {
        recv = send;
        // MPICH 4.0.2 crashes in place at other roots, from 1000 elements or fewer.
        const bool in_place = rank == root && (root == 0 || !is_mpich());
        MPI_Reduce(in_place ? MPI_IN_PLACE : send.data(), rank == root ? recv.data() : nullptr,
                   count, type, MPI_SUM, root, MPI_COMM_WORLD);
        EXPECT(rank != root || all_right(recv, 0, count));
    }
    const int block = count / ranks;
    MPI_Reduce_scatter_block(send.data(), recv.data(), block, type, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(all_right(recv, rank * block, block));
    std::vector<int> counts(static_cast<std::size_t>(ranks), 0);
    counts[0] = count / 2;
    counts.back() += count - count / 2;
    recv = send;
    MPI_Reduce_scatter(MPI_IN_PLACE, recv.data(), counts.data(), type, MPI_SUM, MPI_COMM_WORLD);
    const int first = rank == ranks - 1 && ranks > 1 ? count / 2 : 0;
    EXPECT(all_right(recv, first, counts[static_cast<std::size_t>(rank)]));
}

void check_operations() {
    int value = rank + 1, result = 0;
    const auto reduced = [&](MPI_Op op) {
        MPI_Allreduce(&value, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
        return result;
    };
    EXPECT(reduced(MPI_MAX) == ranks);
    EXPECT(reduced(MPI_MIN) == 1);
    int bits = 0, odd = 0;
    for (int r = 1; r <= ranks; ++r) {
        bits |= r;
        odd ^= r;
    }
    EXPECT(reduced(MPI_BOR) == bits);
    EXPECT(reduced(MPI_BXOR) == odd);
    EXPECT(reduced(MPI_LAND) == 1);
    EXPECT(reduced(MPI_LXOR) == ranks % 2);
    struct Pair {
        double value;
        int index;
    };
    Pair mine{rank % 2 == 0 ? -1.0 : 2.0, rank}, best{};
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    EXPECT(best.value == -1.0 && best.index == 0);
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    EXPECT(best.index == (ranks > 1 ? 1 : 0));
    long double wide = 0.5L, sum = 0;  // one that Trefoil leaves to MPI
    MPI_Allreduce(&wide, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == 0.5L * ranks);
}

struct Affine {  // x -> a * x + b, modulo a prime: composing such maps does not commute
    long a, b;
    friend bool operator==(const Affine&, const Affine&) = default;
};
constexpr long prime = 1000003;

Affine compose(Affine first, Affine then) {
    return {first.a * then.a % prime, (then.a * first.b + then.b) % prime};
}

void compose_all(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        auto* const right = static_cast<Affine*>(inout) + i;
        *right = compose(static_cast<Affine*>(in)[i], *right);
    }
}

void add_all(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        static_cast<Affine*>(inout)[i].a += static_cast<Affine*>(in)[i].a;
        static_cast<Affine*>(inout)[i].b += static_cast<Affine*>(in)[i].b;
    }
}

Affine map_of(int r, int i) {
    return {r + 2, 3 * r + i + 1};
}

/// An MPI with the standard ABI that was built without Fortran has its handles, and refuses them.
bool has_fortran() {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int size = 0;
    const int code = MPI_Type_size(MPI_INTEGER, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    return code == MPI_SUCCESS && size > 0;
}

}  // namespace

void check_reductions() {
    if (has_fortran()) {  // a C program may use its types, too
        check_sum<int>(MPI_INTEGER, 100);
        check_sum<float>(MPI_REAL, 100);
        check_sum<double>(MPI_DOUBLE_PRECISION, 100);
        check_sum<std::complex<double>>(MPI_DOUBLE_COMPLEX, 100);
    }
    for (const int count : {1, 7, 1000, 70000}) {
        check_sum<int>(MPI_INT, count);
        check_sum<double>(MPI_DOUBLE, count);
    }
    check_sum<signed char>(MPI_SIGNED_CHAR, 100);
    check_sum<unsigned short>(MPI_UNSIGNED_SHORT, 100);
    check_sum<long>(MPI_LONG, 100);
    check_sum<float>(MPI_FLOAT, 100);
    check_sum<std::complex<double>>(MPI_C_DOUBLE_COMPLEX, 100);
    check_operations();
    MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

void check_user_operations() {
    MPI_Datatype pair = MPI_DATATYPE_NULL, gappy = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_create_resized(pair, 0, 2 * sizeof(Affine), &gappy);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&gappy);
    MPI_Op ordered = MPI_OP_NULL, commuting = MPI_OP_NULL;
    MPI_Op_create(compose_all, 0, &ordered);
    MPI_Op_create(add_all, 1, &commuting);
    for (const int count : {1, 33, 5000}) {
        std::vector<Affine> send, recv(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            send.push_back(map_of(rank, i));
        }
        MPI_Allreduce(send.data(), recv.data(), count, pair, ordered, MPI_COMM_WORLD);
        bool good = true;
        for (int i = 0; i < count; ++i) {
            Affine expected = map_of(0, i);
            for (int r = 1; r < ranks; ++r) {
                expected = compose(expected, map_of(r, i));
            }
            good = good && recv[static_cast<std::size_t>(i)] == expected;
        }
        EXPECT(good);
        MPI_Reduce(send.data(), recv.data(), count, pair, commuting, 0, MPI_COMM_WORLD);
        EXPECT(rank != 0 || recv[0].a == ranks * (ranks - 1) / 2 + 2 * ranks);
    }
    const std::vector<Affine> send(2, Affine{1, 1});
    std::vector<Affine> recv(2, Affine{-5, -5});
    MPI_Op_free(&ordered);
    MPI_Op_free(&commuting);
    MPI_Op_create(
        [](void* in, void* inout, int* count, MPI_Datatype*) {
            for (int i = 0; i < *count; ++i) {
                static_cast<Affine*>(inout)[2 * i].a += static_cast<Affine*>(in)[2 * i].a;
            }
        },
        1, &commuting);
    MPI_Allreduce(send.data(), recv.data(), 1, gappy, commuting, MPI_COMM_WORLD);
    EXPECT(recv[0].a == ranks && recv[1] == (Affine{-5, -5}));  // the gap is left alone
    MPI_Op_free(&commuting);
    MPI_Type_free(&pair);
    MPI_Type_free(&gappy);
}

}  // namespace trefoil::mpi::test
