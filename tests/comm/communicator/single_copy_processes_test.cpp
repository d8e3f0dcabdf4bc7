// SPDX-License-Identifier: BSD-3-Clause
// Every collective by single copy between processes: the kernel copies their memory, or they show
// images of it.
#include <cstdint>
#include <string>
#include <vector>

#include "affine.hpp"
#include "process_job.hpp"

namespace trefoil::test::single_copy_processes_test {
namespace {

constexpr int ranks = 4;
using Words = std::vector<std::int32_t>;

/// Element i of the block from rank `from` to rank `to`.
std::int32_t word(int from, int to, std::size_t i) {
    return from * 1'000'003 + to * 1'009 + static_cast<std::int32_t>(i);
}

/// What rank `from` has for all.
Words blocks_from(int from, std::size_t count) {
    Words words;
    for (int to = 0; to < ranks; ++to) {
        for (std::size_t i = 0; i < count; ++i) {
            words.push_back(word(from, to, i));
        }
    }
    return words;
}

/// What all have for rank `to`.
Words blocks_to(int to, std::size_t count) {
    Words words;
    for (int from = 0; from < ranks; ++from) {
        for (std::size_t i = 0; i < count; ++i) {
            words.push_back(word(from, to, i));
        }
    }
    return words;
}

Words sums_of(const Words& blocks, std::size_t count) {
    Words sums(count);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        sums[b % count] += blocks[b];
    }
    return sums;
}

/// Names what is wrong, for people, and ends the process's part.
int wrong(int rank, const char* collective, trefoil_comm_t comm) {
    fprintf(stderr, "rank %d: %s is wrong: %s\n", rank, collective, trefoil_last_error(comm));
    return 7;
}

int all_to_all(int rank, std::size_t count, trefoil_comm_t comm) {
    const Words mine = blocks_from(rank, count), theirs = blocks_to(rank, count);
    Words got(mine.size());
    if (trefoil_alltoall(mine.data(), got.data(), count, TREFOIL_INT32, comm) != TREFOIL_SUCCESS ||
        got != theirs) {
        return wrong(rank, "alltoall", comm);
    }
    // The blocks for rank 0 are what each rank has for all in an allgather.
    if (trefoil_allgather(mine.data(), got.data(), count, TREFOIL_INT32, comm) != TREFOIL_SUCCESS ||
        got != blocks_to(0, count)) {
        return wrong(rank, "allgather", comm);
    }
    Words sum(count);
    if (trefoil_reduce_scatter_block(mine.data(), sum.data(), count, TREFOIL_INT32, TREFOIL_SUM,
                                     comm) != TREFOIL_SUCCESS ||
        sum != sums_of(theirs, count)) {
        return wrong(rank, "reduce_scatter", comm);
    }
    return 0;
}

int rooted(int rank, int root, std::size_t count, trefoil_comm_t comm) {
    const bool is_root = rank == root;
    const Words mine = blocks_from(rank, count);
    Words vector = is_root ? mine : Words(mine.size());
    if (trefoil_bcast(vector.data(), vector.size(), TREFOIL_INT32, root, comm) != TREFOIL_SUCCESS ||
        vector != blocks_from(root, count)) {
        return wrong(rank, "bcast", comm);
    }
    Words sum(count);
    if (trefoil_reduce(mine.data(), sum.data(), count, TREFOIL_INT32, TREFOIL_SUM, root, comm) !=
            TREFOIL_SUCCESS ||
        (is_root && sum != sums_of(blocks_to(0, count), count))) {
        return wrong(rank, "reduce", comm);
    }
    Words got(mine.size());
    if (trefoil_gather(mine.data(), got.data(), count, TREFOIL_INT32, root, comm) !=
            TREFOIL_SUCCESS ||
        (is_root && got != blocks_to(0, count))) {
        return wrong(rank, "gather", comm);
    }
    const Words from_root = blocks_from(root, count);
    const auto own = from_root.begin() + rank * static_cast<std::ptrdiff_t>(count);
    if (trefoil_scatter(mine.data(), sum.data(), count, TREFOIL_INT32, root, comm) !=
            TREFOIL_SUCCESS ||
        sum != Words(own, own + static_cast<std::ptrdiff_t>(count))) {
        return wrong(rank, "scatter", comm);
    }
    return 0;
}

std::vector<Affine> maps_of(int rank, std::size_t count) {
    std::vector<Affine> maps;
    for (std::size_t i = 0; i < count; ++i) {
        const auto n = static_cast<std::uint32_t>(rank);
        maps.push_back({2 * n + 3, static_cast<std::uint32_t>(i) + 7 * n});
    }
    return maps;
}

/// In the order of the ranks, in place and not, whoever is the root.
int reduces_in_order(int rank, trefoil_comm_t comm) {
    trefoil_op_t op{};
    if (trefoil_op_create(compose, nullptr, sizeof(Affine), 0, &op) != TREFOIL_SUCCESS) {
        return wrong(rank, "op_create", comm);
    }
    for (const std::size_t count : {3U, 70'001U}) {
        std::vector<Affine> expected = maps_of(ranks - 1, count);
        for (int r = ranks - 2; r >= 0; --r) {
            compose(maps_of(r, count).data(), expected.data(), count, nullptr);
        }
        for (int root = 0; root < ranks; ++root) {
            for (const bool in_place : {false, true}) {
                const bool here = in_place && rank == root;
                const std::vector<Affine> mine = maps_of(rank, count);
                std::vector<Affine> result = here ? mine : std::vector<Affine>(count);
                if (trefoil_reduce(here ? TREFOIL_IN_PLACE : mine.data(), result.data(), count,
                                   TREFOIL_ELEMENT, op, root, comm) != TREFOIL_SUCCESS ||
                    (rank == root && result != expected)) {
                    return wrong(rank, in_place ? "reduce in place" : "reduce", comm);
                }
            }
        }
    }
    trefoil_op_free(op);
    return 0;
}

int reduces_by_root(int rank, trefoil_comm_t comm) {
    return trefoil_comm_set_algorithm(comm, "reduce", "single-copy-root") == TREFOIL_SUCCESS
               ? reduces_in_order(rank, comm)
               : wrong(rank, "single-copy-root", comm);
}

int reduces_by_shares(int rank, trefoil_comm_t comm) {
    return trefoil_comm_set_algorithm(comm, "reduce", "single-copy") == TREFOIL_SUCCESS
               ? reduces_in_order(rank, comm)
               : wrong(rank, "single-copy", comm);
}

int reduces_by_images(int rank, trefoil_comm_t comm) {
    return trefoil_comm_set_algorithm(comm, "reduce", "shared-copy") == TREFOIL_SUCCESS
               ? reduces_in_order(rank, comm)
               : wrong(rank, "shared-copy", comm);
}

/// Every second rank in place.
int reduce_for_all(int rank, std::size_t count, trefoil_comm_t comm) {
    const Words mine = blocks_from(rank, count);
    Words sums = mine;
    const bool in_place = rank % 2 == 0;
    if (trefoil_allreduce(in_place ? TREFOIL_IN_PLACE : mine.data(), sums.data(), sums.size(),
                          TREFOIL_INT32, TREFOIL_SUM, comm) != TREFOIL_SUCCESS) {
        return wrong(rank, "allreduce", comm);
    }
    Words expected(mine.size());
    for (int from = 0; from < ranks; ++from) {
        const Words theirs = blocks_from(from, count);
        for (std::size_t i = 0; i < theirs.size(); ++i) {
            expected[i] += theirs[i];
        }
    }
    return sums == expected ? 0 : wrong(rank, "allreduce", comm);
}

/// Up to several segments, whose images are used again.
int by_images(int rank, trefoil_comm_t comm) {
    for (const char* const collective : {"allgather", "allreduce", "bcast", "reduce"}) {
        if (trefoil_comm_set_algorithm(comm, collective, "shared-copy") != TREFOIL_SUCCESS) {
            return wrong(rank, collective, comm);
        }
    }
    for (const std::size_t count : {1U, 1000U, 300'001U, 3U}) {
        if (all_to_all(rank, count, comm) != 0 || reduce_for_all(rank, count, comm) != 0) {
            return 7;
        }
        for (int root = 0; root < ranks; ++root) {
            if (rooted(rank, root, count, comm) != 0) {
                return 7;
            }
        }
    }
    return 0;
}

int every_collective(int rank, trefoil_comm_t comm) {
    for (const char* const collective :
         {"allgather", "alltoall", "reduce_scatter", "bcast", "reduce", "gather", "scatter"}) {
        if (trefoil_comm_set_algorithm(comm, collective, "single-copy") != TREFOIL_SUCCESS) {
            return wrong(rank, collective, comm);
        }
    }
    for (const std::size_t count : {3U, 1000U, 70'001U}) {
        if (const int result = all_to_all(rank, count, comm); result != 0) {
            return result;
        }
        for (int root = 0; root < ranks; ++root) {
            if (const int result = rooted(rank, root, count, comm); result != 0) {
                return result;
            }
        }
    }
    return 0;
}

void expect_all_succeed(int (*program)(int rank, trefoil_comm_t comm)) {
    const Job job = start(ranks, "2x2", "memory", program);
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

TEST(ProcessMemory, ServesEveryCollective) {
    expect_all_succeed(every_collective);
}

TEST(ProcessMemory, IsShownInImages) {
    expect_all_succeed(by_images);
}

TEST(ProcessMemory, ReducesInTheOrderOfTheRanks) {
    expect_all_succeed(reduces_by_images);
    expect_all_succeed(reduces_by_root);
    expect_all_succeed(reduces_by_shares);
}

}  // namespace
}  // namespace trefoil::test::single_copy_processes_test
