// SPDX-License-Identifier: BSD-3-Clause
// The collectives besides allreduce straight from the ranks' memory, or from images of it: every
// second rank in place, blocks of several sizes and places, several in flight.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "thread_job.hpp"

namespace trefoil::test::single_copy_collectives_test {
namespace {

using Words = std::vector<std::int32_t>;

struct Case {
    const char* torus;
    int ranks;
    int port_threads;
    bool by_image = false;  ///< what can
};

JobOptions job_of(const Case& c) {
    JobOptions options;
    options.torus = c.torus;
    options.port_threads = c.port_threads;
    return options;
}

const char* algorithm_of(const Case& c, std::string_view collective) {
    const bool has_images = collective == "allreduce" || collective == "allgather" ||
                            collective == "bcast" || collective == "reduce";
    return c.by_image && has_images ? "shared-copy" : "single-copy";
}

void force(trefoil_comm_t comm, const char* collective, const char* algorithm) {
    ASSERT_EQ(trefoil_comm_set_algorithm(comm, collective, algorithm), TREFOIL_SUCCESS)
        << trefoil_last_error(comm);
}

/// Element i of rank `from` for rank `to`, or for all.
std::int32_t word(int from, int to, std::size_t i) {
    return static_cast<std::int32_t>(from * 1'000'003 + to * 1'009 + static_cast<int>(i));
}

#define ASSERT_OK(call) ASSERT_EQ(call, TREFOIL_SUCCESS) << trefoil_last_error(comm)

class SingleCopyCollectives : public testing::TestWithParam<Case> {};

constexpr std::size_t counts[] = {1, 3, 1000, 70'001};

TEST_P(SingleCopyCollectives, MoveBlocksBetweenAllInPlaceOrNot) {
    const Case& c = GetParam();
    run_ranks(c.ranks, job_of(c), [&](int rank, trefoil_comm_t comm) {
        for (const char* collective : {"allgather", "alltoall", "reduce_scatter"}) {
            force(comm, collective, algorithm_of(c, collective));
        }
        const auto ranks = static_cast<std::size_t>(c.ranks);
        for (const std::size_t count : counts) {
            for (int round = 0; round < 3; ++round) {
                const bool in_place = (rank + round) % 2 == 0;
                Words all(ranks * count), own(count), sums(count), expected(ranks * count);
                for (std::size_t i = 0; i < count; ++i) {
                    own[i] = all[static_cast<std::size_t>(rank) * count + i] = word(rank, 0, i);
                }
                ASSERT_OK(trefoil_allgather(in_place ? TREFOIL_IN_PLACE : own.data(), all.data(),
                                            count, TREFOIL_INT32, comm));
                for (std::size_t b = 0; b < ranks * count; ++b) {
                    expected[b] = word(static_cast<int>(b / count), 0, b % count);
                }
                ASSERT_EQ(all, expected) << "allgather";

                Words mine(ranks * count), theirs(ranks * count);
                for (std::size_t b = 0; b < ranks * count; ++b) {
                    mine[b] = word(rank, static_cast<int>(b / count), b % count);
                    expected[b] = word(static_cast<int>(b / count), rank, b % count);
                }
                Words& received = in_place ? mine : theirs;
                ASSERT_OK(trefoil_alltoall(in_place ? TREFOIL_IN_PLACE : mine.data(),
                                           received.data(), count, TREFOIL_INT32, comm));
                ASSERT_EQ(received, expected) << "alltoall";

                for (std::size_t b = 0; b < ranks * count; ++b) {
                    mine[b] = word(rank, static_cast<int>(b / count), b % count);
                }
                std::int32_t* const to = in_place ? mine.data() : sums.data();
                ASSERT_OK(trefoil_reduce_scatter_block(in_place ? TREFOIL_IN_PLACE : mine.data(),
                                                       to, count, TREFOIL_INT32, TREFOIL_SUM,
                                                       comm));
                for (std::size_t i = 0; i < count; ++i) {
                    std::int32_t sum = 0;
                    for (int r = 0; r < c.ranks; ++r) {
                        sum += word(r, rank, i);
                    }
                    ASSERT_EQ(to[i], sum) << "reduce_scatter, element " << i;
                }
            }
        }
    });
}

TEST_P(SingleCopyCollectives, MoveBlocksFromAndToARootInPlaceOrNot) {
    const Case& c = GetParam();
    run_ranks(c.ranks, job_of(c), [&](int rank, trefoil_comm_t comm) {
        for (const char* collective : {"bcast", "gather", "scatter"}) {
            force(comm, collective, algorithm_of(c, collective));
        }
        const auto ranks = static_cast<std::size_t>(c.ranks);
        for (const std::size_t count : counts) {
            for (int root = 0; root < c.ranks; ++root) {
                force(comm, "reduce",
                      root % 3 == 1 || c.by_image ? algorithm_of(c, "reduce") : "single-copy-root");
                const bool is_root = rank == root, in_place = is_root && root % 2 == 0;
                Words vector(count), own(count), sums(count), all(ranks * count);
                for (std::size_t i = 0; i < count; ++i) {
                    own[i] = word(rank, 0, i);
                    vector[i] = is_root ? word(root, 7, i) : -1;
                }
                ASSERT_OK(trefoil_bcast(vector.data(), count, TREFOIL_INT32, root, comm));
                for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_EQ(vector[i], word(root, 7, i)) << "bcast";
                }

                sums = own;
                ASSERT_OK(trefoil_reduce(in_place ? TREFOIL_IN_PLACE : own.data(),
                                         is_root ? sums.data() : nullptr, count, TREFOIL_INT32,
                                         TREFOIL_SUM, root, comm));
                for (std::size_t i = 0; is_root && i < count; ++i) {
                    std::int32_t sum = 0;
                    for (int r = 0; r < c.ranks; ++r) {
                        sum += word(r, 0, i);
                    }
                    ASSERT_EQ(sums[i], sum) << "reduce, element " << i;
                }

                std::copy(own.begin(), own.end(), all.begin() + rank * static_cast<long>(count));
                ASSERT_OK(trefoil_gather(in_place ? TREFOIL_IN_PLACE : own.data(),
                                         is_root ? all.data() : nullptr, count, TREFOIL_INT32, root,
                                         comm));
                for (std::size_t b = 0; is_root && b < ranks * count; ++b) {
                    ASSERT_EQ(all[b], word(static_cast<int>(b / count), 0, b % count)) << "gather";
                }

                for (std::size_t b = 0; is_root && b < ranks * count; ++b) {
                    all[b] = word(root, static_cast<int>(b / count), b % count);
                }
                ASSERT_OK(trefoil_scatter(is_root ? all.data() : nullptr,
                                          in_place ? TREFOIL_IN_PLACE : own.data(), count,
                                          TREFOIL_INT32, root, comm));
                const std::int32_t* const got =
                    in_place ? all.data() + static_cast<std::size_t>(rank) * count : own.data();
                for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_EQ(got[i], word(root, rank, i)) << "scatter";
                }
            }
        }
    });
}

/// Each rank places the blocks as it likes; some are empty.
TEST_P(SingleCopyCollectives, TakeBlocksOfSeveralSizes) {
    const Case& c = GetParam();
    run_ranks(c.ranks, job_of(c), [&](int rank, trefoil_comm_t comm) {
        for (const char* collective : {"allgather", "gather", "scatter", "reduce_scatter"}) {
            force(comm, collective, algorithm_of(c, collective));
        }
        std::vector<std::size_t> sizes, places;
        std::size_t all = static_cast<std::size_t>(rank), sum = 0;
        for (int r = 0; r < c.ranks; ++r) {
            sizes.push_back(static_cast<std::size_t>(r * 4001 % 9973));
            places.push_back(all);
            all += sizes.back() + 5 * static_cast<std::size_t>(rank);
            sum += sizes.back();
        }
        const std::size_t count = sizes[static_cast<std::size_t>(rank)];
        Words own(count + 1), got(all);
        for (std::size_t i = 0; i < count; ++i) {
            own[i] = word(rank, 0, i);
        }
        const auto expect_blocks = [&](const char* what) {
            for (std::size_t r = 0; r < sizes.size(); ++r) {
                for (std::size_t i = 0; i < sizes[r]; ++i) {
                    ASSERT_EQ(got[places[r] + i], word(static_cast<int>(r), 0, i)) << what;
                }
            }
        };
        ASSERT_OK(trefoil_allgatherv(own.data(), count, got.data(), sizes.data(), places.data(),
                                     TREFOIL_INT32, comm));
        expect_blocks("allgatherv");
        got.assign(all, 0);
        ASSERT_OK(trefoil_gatherv(own.data(), count, got.data(), sizes.data(), places.data(),
                                  TREFOIL_INT32, 1, comm));
        if (rank == 1) {
            expect_blocks("gatherv");
        }
        Words back(count + 1, -1);
        ASSERT_OK(trefoil_scatterv(got.data(), sizes.data(), places.data(), back.data(), count,
                                   TREFOIL_INT32, 1, comm));
        own[count] = -1;
        ASSERT_EQ(back, own) << "scatterv";

        Words contributions(sum), sums(count + 1, -1);
        for (std::size_t i = 0; i < sum; ++i) {
            contributions[i] = word(rank, 3, i);
        }
        ASSERT_OK(trefoil_reduce_scatter(contributions.data(), sums.data(), sizes.data(),
                                         TREFOIL_INT32, TREFOIL_SUM, comm));
        std::size_t first = 0;
        for (int r = 0; r < rank; ++r) {
            first += sizes[static_cast<std::size_t>(r)];
        }
        for (std::size_t i = 0; i < count; ++i) {
            std::int32_t expected = 0;
            for (int r = 0; r < c.ranks; ++r) {
                expected += word(r, 3, first + i);
            }
            ASSERT_EQ(sums[i], expected) << "reduce_scatter, element " << i;
        }
        ASSERT_EQ(sums[count], -1);
    });
}

TEST_P(SingleCopyCollectives, AreRefusedWhereTwoRanksAloneKnowABlock) {
    const Case& c = GetParam();
    run_ranks(c.ranks, job_of(c), [&](int, trefoil_comm_t comm) {
        force(comm, "alltoall", "single-copy");
        const std::vector<std::size_t> sizes(static_cast<std::size_t>(c.ranks), 2);
        Words in(sizes.size() * 2), out(in.size());
        EXPECT_EQ(trefoil_alltoallv(in.data(), sizes.data(), nullptr, out.data(), sizes.data(),
                                    nullptr, TREFOIL_INT32, comm),
                  TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_STREQ(trefoil_last_error(nullptr),
                     "single-copy reads the memory of other ranks, which this call does not "
                     "allow: only the two ranks of a block know its count; use auto or another "
                     "algorithm");
    });
}

TEST_P(SingleCopyCollectives, GoInFlightTogether) {
    const Case& c = GetParam();
    run_ranks(c.ranks, job_of(c), [&](int rank, trefoil_comm_t comm) {
        for (const char* collective : {"allreduce", "bcast", "allgather", "reduce"}) {
            force(comm, collective, algorithm_of(c, collective));
        }
        const auto ranks = static_cast<std::size_t>(c.ranks);
        constexpr std::size_t count = 9000;
        for (int round = 0; round < 10; ++round) {
            const int root = round % c.ranks;
            Words sums(count, 1), vector(count, rank == root ? round : -1), all(ranks * count),
                own(count, rank), at_root(count);
            trefoil_request_t requests[4];
            ASSERT_OK(trefoil_iallreduce(TREFOIL_IN_PLACE, sums.data(), count, TREFOIL_INT32,
                                         TREFOIL_SUM, comm, &requests[0]));
            ASSERT_OK(
                trefoil_ibcast(vector.data(), count, TREFOIL_INT32, root, comm, &requests[1]));
            ASSERT_OK(trefoil_iallgather(own.data(), all.data(), count, TREFOIL_INT32, comm,
                                         &requests[2]));
            ASSERT_OK(trefoil_ireduce(own.data(), at_root.data(), count, TREFOIL_INT32, TREFOIL_SUM,
                                      root, comm, &requests[3]));
            ASSERT_OK(trefoil_waitall(4, requests));
            EXPECT_EQ(sums, Words(count, c.ranks));
            EXPECT_EQ(vector, Words(count, round));
            for (std::size_t r = 0; r < ranks; ++r) {
                EXPECT_EQ(all[r * count + 17], static_cast<std::int32_t>(r));
            }
            EXPECT_EQ(at_root, Words(count, rank == root ? c.ranks * (c.ranks - 1) / 2 : 0));
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Tori, SingleCopyCollectives,
                         testing::Values(Case{"2", 2, 0}, Case{"3x3", 9, 0}, Case{"2x3", 6, 4},
                                         Case{"5", 5, 2}, Case{"2", 2, 0, true},
                                         Case{"3x3", 9, 0, true}, Case{"5", 5, 0, true}));

}  // namespace
}  // namespace trefoil::test::single_copy_collectives_test
