// SPDX-License-Identifier: BSD-3-Clause
// Alltoall and alltoallv, in place and not, with gaps and without; scan and exscan.
#include "check.hpp"

namespace trefoil::mpi::test {

namespace {

/// What rank `from` sends rank `to`, in the i-th place.
int exchanged(int from, int to, int i) {
    return 100000 * from + 1000 * to + i;
}

void check_alltoall(int count) {
    const auto size = static_cast<std::size_t>(ranks * count);
    std::vector<int> send(size), recv(size, -1);
    const auto right = [&](const std::vector<int>& got, int step) {
        for (int r = 0; r < ranks; ++r) {
            for (int i = 0; i < count; ++i) {
                if (got[static_cast<std::size_t>((r * count + i) * step)] !=
                    exchanged(r, rank, i)) {
                    return false;
                }
            }
        }
        return true;
    };
    for (int r = 0; r < ranks; ++r) {
        for (int i = 0; i < count; ++i) {
            send[static_cast<std::size_t>(r * count + i)] = exchanged(rank, r, i);
        }
    }
    EXPECT(MPI_Alltoall(send.data(), count, MPI_INT, recv.data(), count, MPI_INT, MPI_COMM_WORLD) ==
           0);
    EXPECT(right(recv, 1));
    recv = send;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, recv.data(), count, MPI_INT, MPI_COMM_WORLD);
    EXPECT(right(recv, 1));
    // Every second int on rank 0 alone: the signatures are equal, the layouts are not.
    MPI_Datatype gaps = MPI_INT;
    MPI_Type_create_resized(MPI_INT, 0, 8, &gaps);
    MPI_Type_commit(&gaps);
    std::vector<int> wide(2 * size, -1);
    MPI_Alltoall(send.data(), count, MPI_INT, wide.data(), count, rank == 0 ? gaps : MPI_INT,
                 MPI_COMM_WORLD);
    EXPECT(right(wide, rank == 0 ? 2 : 1));
    EXPECT(rank != 0 || wide[1] == -1);
    MPI_Type_free(&gaps);
}

/// Rank a sends rank b (a + b) % 3 numbers; blocks lie from last to first.
void check_alltoallv() {
    const auto size = static_cast<std::size_t>(ranks);
    std::vector<int> counts(size), places(size), send(2 * size), recv(2 * size, -1);
    for (int r = 0; r < ranks; ++r) {
        const auto at = static_cast<std::size_t>(r);
        counts[at] = (rank + r) % 3;
        places[at] = 2 * (ranks - 1 - r);
        for (int i = 0; i < counts[at]; ++i) {
            send[static_cast<std::size_t>(places[at] + i)] = exchanged(rank, r, i);
        }
    }
    const auto right = [&] {
        for (int r = 0; r < ranks; ++r) {
            for (int i = 0; i < 2; ++i) {
                const int got = recv[static_cast<std::size_t>(2 * (ranks - 1 - r) + i)];
                if (i < counts[static_cast<std::size_t>(r)] && got != exchanged(r, rank, i)) {
                    return false;
                }
            }
        }
        return true;
    };
    EXPECT(MPI_Alltoallv(send.data(), counts.data(), places.data(), MPI_INT, recv.data(),
                         counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD) == 0);
    EXPECT(right());
    recv = send;
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_INT, recv.data(), counts.data(),
                  places.data(), MPI_INT, MPI_COMM_WORLD);
    EXPECT(right());
}

void check_prefixes() {
    long mine[2] = {rank + 1, -rank}, got[2] = {-7, -7};
    EXPECT(MPI_Scan(mine, got, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD) == 0);
    EXPECT(got[0] == (rank + 1) * (rank + 2) / 2 && got[1] == -rank * (rank + 1) / 2);
    got[0] = -7;
    EXPECT(MPI_Exscan(mine, got, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD) == 0);
    EXPECT(rank == 0 || got[0] == rank * (rank + 1) / 2);
    double product = 2;
    MPI_Scan(MPI_IN_PLACE, &product, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    EXPECT(product == static_cast<double>(1 << (rank + 1)));
    int least = ranks - rank;
    MPI_Exscan(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    EXPECT(rank == 0 || least == ranks - rank + 1);
}

}  // namespace

void check_exchanges() {
    for (const int count : {1, 3, 2000}) {
        check_alltoall(count);
    }
    check_alltoallv();
    check_prefixes();
}

}  // namespace trefoil::mpi::test
