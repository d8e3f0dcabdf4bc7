// SPDX-License-Identifier: BSD-3-Clause
// Each collective as a call that blocks, as one that does not, and as a persistent one.
#include <numeric>

#include "in_flight.hpp"

#define UNPACK(...) __VA_ARGS__

/// Each way of a call, from what PREPARE writes to what CHECK expects. The third one starts three
/// times. A macro, because it makes names.
#define IN_ALL_WAYS(Name, name, ARGUMENTS, PREPARE, CHECK)                                  \
    do {                                                                                    \
        PREPARE;                                                                            \
        EXPECT(MPI_##Name(UNPACK ARGUMENTS) == MPI_SUCCESS);                                \
        CHECK;                                                                              \
        MPI_Request request = MPI_REQUEST_NULL;                                             \
        PREPARE;                                                                            \
        EXPECT(MPI_I##name(UNPACK ARGUMENTS, &request) == MPI_SUCCESS);                     \
        EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);                       \
        CHECK;                                                                              \
        if (!try_persistent) {                                                              \
            break;                                                                          \
        }                                                                                   \
        EXPECT(PERSISTENT(Name)(UNPACK ARGUMENTS, MPI_INFO_NULL, &request) == MPI_SUCCESS); \
        for (int start = 0; start < 3; ++start) {                                           \
            PREPARE;                                                                        \
            EXPECT(MPI_Start(&request) == MPI_SUCCESS);                                     \
            EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);                   \
            CHECK;                                                                          \
        }                                                                                   \
        EXPECT(MPI_Request_free(&request) == MPI_SUCCESS);                                  \
    } while (false)

namespace trefoil::mpi::test {

namespace {

void check_reductions_in_all_ways(int count) {
    Ints send, recv;
    const auto all = [&](std::size_t received) {
        set(send, inputs(rank, count));
        set(recv, filled(received));
    };
    IN_ALL_WAYS(Allreduce, allreduce,
                (send.data(), recv.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                all(size(count)), EXPECT(is_sum(recv, ranks)));
    IN_ALL_WAYS(Allreduce, allreduce,
                (MPI_IN_PLACE, recv.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                set(recv, inputs(rank, count)), EXPECT(is_sum(recv, ranks)));
    const int root = ranks - 1;
    IN_ALL_WAYS(Reduce, reduce,
                (send.data(), recv.data(), count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD),
                all(size(count)), EXPECT(rank != root || is_sum(recv, ranks)));
    IN_ALL_WAYS(Scan, scan, (send.data(), recv.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                all(size(count)), EXPECT(is_sum(recv, rank + 1)));
    IN_ALL_WAYS(Exscan, exscan, (send.data(), recv.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                all(size(count)), EXPECT(rank == 0 || is_sum(recv, rank)));
    const auto blocks = [&] {
        set(send, inputs(rank, count * ranks));
        set(recv, filled(size(count)));
    };
    IN_ALL_WAYS(Reduce_scatter_block, reduce_scatter_block,
                (send.data(), recv.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD), blocks(),
                EXPECT(is_sum(recv, ranks, rank * count)));
    Ints counts(size(ranks));
    std::iota(counts.begin(), counts.end(), count);
    const int own = counts[size(rank)];
    const int before = std::accumulate(counts.begin(), counts.begin() + rank, 0);
    const auto uneven = [&] {
        set(send, inputs(rank, std::accumulate(counts.begin(), counts.end(), 0)));
        set(recv, filled(size(own)));
    };
    IN_ALL_WAYS(Reduce_scatter, reduce_scatter,
                (send.data(), recv.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                uneven(), EXPECT(is_sum(recv, ranks, before)));
}

void first_of_two(void* in, void* inout, int* count, MPI_Datatype*) {
    std::copy_n(static_cast<int*>(in), *count, static_cast<int*>(inout));
}

/// It is associative, and does not commute: the result is rank 0's vector.
void check_user_operation() {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(first_of_two, 0, &op);
    Ints send, recv;
    const auto prepare = [&] {
        set(send, inputs(rank, 5));
        set(recv, filled(5));
    };
    IN_ALL_WAYS(Allreduce, allreduce, (send.data(), recv.data(), 5, MPI_INT, op, MPI_COMM_WORLD),
                prepare(), EXPECT(recv == inputs(0, 5)));
    MPI_Op_free(&op);
}

void check_movements_in_all_ways(int count) {
    Ints send, recv;
    const int root = ranks / 2;
    const std::size_t all = size(count * ranks);
    const auto prepare = [&](std::size_t received) {
        set(send, inputs(rank, count));
        set(recv, filled(received));
    };
    IN_ALL_WAYS(Bcast, bcast, (recv.data(), count, MPI_INT, root, MPI_COMM_WORLD),
                set(recv, rank == root ? inputs(root, count) : filled(size(count))),
                EXPECT(recv == inputs(root, count)));
    IN_ALL_WAYS(Allgather, allgather,
                (send.data(), count, MPI_INT, recv.data(), count, MPI_INT, MPI_COMM_WORLD),
                prepare(all), EXPECT(is_all(recv, count)));
    IN_ALL_WAYS(Gather, gather,
                (send.data(), count, MPI_INT, recv.data(), count, MPI_INT, root, MPI_COMM_WORLD),
                prepare(all), EXPECT(rank != root || is_all(recv, count)));
    Ints counts(size(ranks), count), places(size(ranks));
    for (int r = 0; r < ranks; ++r) {
        places[size(r)] = (ranks - 1 - r) * count;  // backwards
    }
    const auto is_backwards = [&] {
        Ints forwards;
        for (int r = 0; r < ranks; ++r) {
            forwards.insert(forwards.end(), recv.begin() + places[size(r)],
                            recv.begin() + places[size(r)] + count);
        }
        return is_all(forwards, count);
    };
    IN_ALL_WAYS(Allgatherv, allgatherv,
                (send.data(), count, MPI_INT, recv.data(), counts.data(), places.data(), MPI_INT,
                 MPI_COMM_WORLD),
                prepare(all), EXPECT(is_backwards()));
    IN_ALL_WAYS(Gatherv, gatherv,
                (send.data(), count, MPI_INT, recv.data(), counts.data(), places.data(), MPI_INT,
                 root, MPI_COMM_WORLD),
                prepare(all), EXPECT(rank != root || is_backwards()));
    Ints blocks;
    const auto scatter = [&] {
        set(blocks, inputs(root, count * ranks));
        set(recv, filled(size(count)));
    };
    const auto is_block = [&](int first) {
        const Ints whole = inputs(root, count * ranks);
        return std::equal(recv.begin(), recv.end(), whole.begin() + first);
    };
    IN_ALL_WAYS(Scatter, scatter,
                (blocks.data(), count, MPI_INT, recv.data(), count, MPI_INT, root, MPI_COMM_WORLD),
                scatter(), EXPECT(is_block(rank * count)));
    IN_ALL_WAYS(Scatterv, scatterv,
                (blocks.data(), counts.data(), places.data(), MPI_INT, recv.data(), count, MPI_INT,
                 root, MPI_COMM_WORLD),
                scatter(), EXPECT(is_block(places[size(rank)])));
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT(MPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS);
    EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

int exchanged(int from, int to, int i) {
    return 100000 * from + 1000 * to + i;
}

void check_exchanges_in_all_ways(int count) {
    Ints send(size(count * ranks)), recv, right(send.size());
    for (int r = 0; r < ranks; ++r) {
        for (int i = 0; i < count; ++i) {
            send[size(r * count + i)] = exchanged(rank, r, i);
            right[size(r * count + i)] = exchanged(r, rank, i);
        }
    }
    const auto prepare = [&] { set(recv, filled(send.size())); };
    IN_ALL_WAYS(Alltoall, alltoall,
                (send.data(), count, MPI_INT, recv.data(), count, MPI_INT, MPI_COMM_WORLD),
                prepare(), EXPECT(recv == right));
    IN_ALL_WAYS(Alltoall, alltoall,
                (MPI_IN_PLACE, 0, MPI_INT, recv.data(), count, MPI_INT, MPI_COMM_WORLD),
                set(recv, send), EXPECT(recv == right));
    Ints counts(size(ranks), count), places(size(ranks)), bytes(size(ranks));
    for (int r = 0; r < ranks; ++r) {
        places[size(r)] = r * count;
        bytes[size(r)] = r * count * static_cast<int>(sizeof(int));
    }
    IN_ALL_WAYS(Alltoallv, alltoallv,
                (send.data(), counts.data(), places.data(), MPI_INT, recv.data(), counts.data(),
                 places.data(), MPI_INT, MPI_COMM_WORLD),
                prepare(), EXPECT(recv == right));
    // One block of the even ranks' is one element, those of the odd ones' are several.
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(count, MPI_INT, &whole);
    MPI_Type_commit(&whole);
    std::vector<MPI_Datatype> types(size(ranks), rank % 2 == 0 ? whole : MPI_INT);
    Ints elements(size(ranks), rank % 2 == 0 ? 1 : count);
    IN_ALL_WAYS(Alltoallw, alltoallw,
                (send.data(), elements.data(), bytes.data(), types.data(), recv.data(),
                 elements.data(), bytes.data(), types.data(), MPI_COMM_WORLD),
                prepare(), EXPECT(recv == right));
    IN_ALL_WAYS(Alltoallw, alltoallw,
                (MPI_IN_PLACE, nullptr, nullptr, nullptr, recv.data(), elements.data(),
                 bytes.data(), types.data(), MPI_COMM_WORLD),
                set(recv, send), EXPECT(recv == right));
    MPI_Type_free(&whole);
}

/// What a neighbour sends: who it is, in which of its places this rank is, and where in the block.
int from_neighbour(int of_rank, int place, int i) {
    return of_rank < 0 ? -1 : exchanged(of_rank, place, i);
}

void check_neighbours(MPI_Comm grid, int dimensions, int count) {
    const int peers = 2 * dimensions;
    Ints who(size(peers));
    int own = 0;
    MPI_Comm_rank(grid, &own);
    for (int d = 0; d < dimensions; ++d) {
        MPI_Cart_shift(grid, d, 1, &who[size(2 * d)], &who[size(2 * d + 1)]);
    }
    std::ranges::replace(who, MPI_PROC_NULL, -1);
    Ints one(size(count)), send(size(peers * count)), recv, gathered(send.size()),
        exchanged_right(send.size());
    for (int i = 0; i < count; ++i) {
        one[size(i)] = exchanged(own, 99, i);
    }
    for (int p = 0; p < peers; ++p) {
        for (int i = 0; i < count; ++i) {
            send[size(p * count + i)] = exchanged(own, p, i);
            gathered[size(p * count + i)] = from_neighbour(who[size(p)], 99, i);
            exchanged_right[size(p * count + i)] = from_neighbour(who[size(p)], p ^ 1, i);
        }
    }
    Ints counts(size(peers), count), places(size(peers));
    std::vector<MPI_Aint> bytes(size(peers));
    const std::vector<MPI_Datatype> types(size(peers), MPI_INT);
    for (int p = 0; p < peers; ++p) {
        places[size(p)] = p * count;
        bytes[size(p)] = p * count * static_cast<MPI_Aint>(sizeof(int));
    }
    const auto prepare = [&] { set(recv, filled(send.size())); };
    IN_ALL_WAYS(Neighbor_allgather, neighbor_allgather,
                (one.data(), count, MPI_INT, recv.data(), count, MPI_INT, grid), prepare(),
                EXPECT(recv == gathered));
    IN_ALL_WAYS(
        Neighbor_allgatherv, neighbor_allgatherv,
        (one.data(), count, MPI_INT, recv.data(), counts.data(), places.data(), MPI_INT, grid),
        prepare(), EXPECT(recv == gathered));
    IN_ALL_WAYS(Neighbor_alltoall, neighbor_alltoall,
                (send.data(), count, MPI_INT, recv.data(), count, MPI_INT, grid), prepare(),
                EXPECT(recv == exchanged_right));
    IN_ALL_WAYS(Neighbor_alltoallv, neighbor_alltoallv,
                (send.data(), counts.data(), places.data(), MPI_INT, recv.data(), counts.data(),
                 places.data(), MPI_INT, grid),
                prepare(), EXPECT(recv == exchanged_right));
    IN_ALL_WAYS(Neighbor_alltoallw, neighbor_alltoallw,
                (send.data(), counts.data(), bytes.data(), types.data(), recv.data(), counts.data(),
                 bytes.data(), types.data(), grid),
                prepare(), EXPECT(recv == exchanged_right));
}

/// Where a dimension has two ranks, both neighbours are one: MPIs have confused them.
void check_grids() {
    int lengths[2] = {0, 0};
    MPI_Dims_create(ranks, 2, lengths);
    for (const int periodic : {1, 0}) {
        const int periods[2] = {periodic, 1};
        const bool two = (periodic != 0 && lengths[0] <= 2) || lengths[1] <= 2;
        MPI_Comm grid = MPI_COMM_NULL;
        MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, periods, 0, &grid);
        if (!two) {
            check_neighbours(grid, 2, 3);
            check_neighbours(grid, 2, 3000);
        }
        MPI_Comm_free(&grid);
    }
    const int around = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &around, 0, &ring);
    if (ranks > 2) {
        check_neighbours(ring, 1, 17);
    }
    MPI_Comm_free(&ring);
}

}  // namespace

void check_every_way() {
    for (const int count : {1, 300, 40000}) {
        check_reductions_in_all_ways(count);
        check_movements_in_all_ways(count);
        check_exchanges_in_all_ways(count);
    }
    check_user_operation();
    check_grids();
}

}  // namespace trefoil::mpi::test
