// SPDX-License-Identifier: BSD-3-Clause
// MPI's functions whose counts are MPI_Count, where there are any.
#include "check.hpp"

namespace trefoil::mpi::test {

#if MPI_VERSION >= 4

namespace {

using Counts = std::vector<MPI_Count>;
using Places = std::vector<MPI_Aint>;

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

std::vector<int> all_inputs(int count) {
    std::vector<int> all;
    for (int r = 0; r < ranks; ++r) {
        const std::vector<int> theirs = inputs(r, count);
        all.insert(all.end(), theirs.begin(), theirs.end());
    }
    return all;
}

void check_reducing(int count) {
    std::vector<int> send = inputs(rank, count), recv(size(count)), sum(size(count));
    const auto counted = static_cast<MPI_Count>(count);
    MPI_Allreduce(send.data(), sum.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(MPI_Allreduce_c(send.data(), recv.data(), counted, MPI_INT, MPI_SUM, MPI_COMM_WORLD) ==
           MPI_SUCCESS);
    EXPECT(recv == sum);
    recv.assign(size(count), -1);
    MPI_Reduce_c(send.data(), recv.data(), counted, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    EXPECT(rank != 0 || recv == sum);
    std::vector<int> scan(size(count)), scan_c(size(count));
    MPI_Scan(send.data(), scan.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan_c(send.data(), scan_c.data(), counted, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(scan == scan_c);
    MPI_Exscan_c(send.data(), scan_c.data(), counted, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(rank == 0 || scan_c[0] == scan[0] - send[0]);
    const std::vector<int> blocks = inputs(rank, count * ranks);
    std::vector<int> mine(size(count)), mine_c(size(count));
    const Counts counts(size(ranks), counted);
    MPI_Reduce_scatter_block(blocks.data(), mine.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block_c(blocks.data(), mine_c.data(), counted, MPI_INT, MPI_SUM,
                               MPI_COMM_WORLD);
    EXPECT(mine == mine_c);
    MPI_Reduce_scatter_c(blocks.data(), mine_c.data(), counts.data(), MPI_INT, MPI_SUM,
                         MPI_COMM_WORLD);
    EXPECT(mine == mine_c);
}

void check_moving(int count) {
    const auto counted = static_cast<MPI_Count>(count);
    const std::vector<int> send = inputs(rank, count), all = all_inputs(count);
    std::vector<int> recv(all.size(), -1), block(size(count));
    Counts counts(size(ranks), counted);
    Places places;
    for (int r = 0; r < ranks; ++r) {
        places.push_back(static_cast<MPI_Aint>(r) * count);
    }
    MPI_Allgather_c(send.data(), counted, MPI_INT, recv.data(), counted, MPI_INT, MPI_COMM_WORLD);
    EXPECT(recv == all);
    recv.assign(all.size(), -1);
    MPI_Allgatherv_c(send.data(), counted, MPI_INT, recv.data(), counts.data(), places.data(),
                     MPI_INT, MPI_COMM_WORLD);
    EXPECT(recv == all);
    recv.assign(all.size(), -1);
    MPI_Gather_c(send.data(), counted, MPI_INT, recv.data(), counted, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT(rank != 0 || recv == all);
    recv.assign(all.size(), -1);
    MPI_Gatherv_c(send.data(), counted, MPI_INT, recv.data(), counts.data(), places.data(), MPI_INT,
                  0, MPI_COMM_WORLD);
    EXPECT(rank != 0 || recv == all);
    MPI_Scatter_c(all.data(), counted, MPI_INT, block.data(), counted, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT(block == send);
    block.assign(size(count), -1);
    MPI_Scatterv_c(all.data(), counts.data(), places.data(), MPI_INT, block.data(), counted,
                   MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT(block == send);
    if (rank != 0) {
        block.assign(size(count), -1);
    }
    MPI_Bcast_c(block.data(), counted, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT(block == inputs(0, count));
    // Each sends all the same.
    std::vector<int> copies;
    for (int r = 0; r < ranks; ++r) {
        copies.insert(copies.end(), send.begin(), send.end());
    }
    recv.assign(all.size(), -1);
    MPI_Alltoall_c(copies.data(), counted, MPI_INT, recv.data(), counted, MPI_INT, MPI_COMM_WORLD);
    EXPECT(recv == all);
    recv.assign(all.size(), -1);
    MPI_Alltoallv_c(copies.data(), counts.data(), places.data(), MPI_INT, recv.data(),
                    counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD);
    EXPECT(recv == all);
    const std::vector<MPI_Datatype> types(size(ranks), MPI_INT);
    Places bytes;
    for (const MPI_Aint place : places) {
        bytes.push_back(place * static_cast<MPI_Aint>(sizeof(int)));
    }
    recv.assign(all.size(), -1);
    MPI_Alltoallw_c(copies.data(), counts.data(), bytes.data(), types.data(), recv.data(),
                    counts.data(), bytes.data(), types.data(), MPI_COMM_WORLD);
    EXPECT(recv == all);
}

/// On a ring both neighbours' blocks come in the order of a gather among three.
void check_neighbouring(int count) {
    const int around = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &around, 0, &ring);
    const auto counted = static_cast<MPI_Count>(count);
    const std::vector<int> send = inputs(rank, count);
    std::vector<int> both = inputs((rank + ranks - 1) % ranks, count), copies = send;
    const std::vector<int> right = inputs((rank + 1) % ranks, count);
    both.insert(both.end(), right.begin(), right.end());
    copies.insert(copies.end(), send.begin(), send.end());
    const Counts counts(2, counted);
    const Places places{0, count}, bytes{0, count * static_cast<MPI_Aint>(sizeof(int))};
    const std::vector<MPI_Datatype> types(2, MPI_INT);
    std::vector<int> recv(both.size(), -1);
    MPI_Neighbor_allgather_c(send.data(), counted, MPI_INT, recv.data(), counted, MPI_INT, ring);
    EXPECT(recv == both);
    recv.assign(both.size(), -1);
    MPI_Neighbor_allgatherv_c(send.data(), counted, MPI_INT, recv.data(), counts.data(),
                              places.data(), MPI_INT, ring);
    EXPECT(recv == both);
    recv.assign(both.size(), -1);
    MPI_Neighbor_alltoall_c(copies.data(), counted, MPI_INT, recv.data(), counted, MPI_INT, ring);
    EXPECT(recv == both);
    recv.assign(both.size(), -1);
    MPI_Neighbor_alltoallv_c(copies.data(), counts.data(), places.data(), MPI_INT, recv.data(),
                             counts.data(), places.data(), MPI_INT, ring);
    EXPECT(recv == both);
    recv.assign(both.size(), -1);
    MPI_Neighbor_alltoallw_c(copies.data(), counts.data(), bytes.data(), types.data(), recv.data(),
                             counts.data(), bytes.data(), types.data(), ring);
    EXPECT(recv == both);
    MPI_Comm_free(&ring);
}

/// Datatypes that were made with such counts, and others of those.
void check_types() {
    MPI_Datatype three = MPI_DATATYPE_NULL, gaps = MPI_DATATYPE_NULL, made[2];
    MPI_Type_contiguous_c(3, MPI_INT, &three);
    MPI_Type_vector_c(3, 1, 2, MPI_INT, &gaps);
    MPI_Type_contiguous(2, three, &made[0]);
    MPI_Type_contiguous(2, gaps, &made[1]);
    for (MPI_Datatype& type : made) {
        MPI_Type_commit(&type);
        std::vector<int> data(12, rank == 0 ? 5 : -1);
        MPI_Bcast(data.data(), 1, type, 0, MPI_COMM_WORLD);
        EXPECT(data[0] == 5 && data[2] == 5 && data[5] == 5);
        EXPECT(rank == 0 || (data[11] == -1 && data[1] == (type == made[0] ? 5 : -1)));
        MPI_Type_free(&type);
    }
    MPI_Type_free(&three);
    MPI_Type_free(&gaps);
}

}  // namespace

void check_large_counts() {
    check_types();
    for (const int count : {1, 1000, 100000}) {
        check_reducing(count);
        check_moving(count);
        check_neighbouring(count);
    }
}

#else

void check_large_counts() {}

#endif

}  // namespace trefoil::mpi::test
