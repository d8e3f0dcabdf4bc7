// SPDX-License-Identifier: BSD-3-Clause
// Exchanges with neighbours: which block comes from where, in MPI's order, on dimensions of every
// size; the forms with counts; and what is refused.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/variable.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::neighbours_test {
namespace {

using Numbers = std::vector<std::int64_t>;
using Sizes = std::vector<std::size_t>;

/// By coordinates alone: the neighbour in `slot`.
int neighbour(trefoil_comm_t comm, int rank, std::size_t slot) {
    int dimensions = 0, ranks = 0;
    EXPECT_EQ(trefoil_comm_torus(comm, &dimensions, nullptr, 0), TREFOIL_SUCCESS);
    EXPECT_EQ(trefoil_comm_size(comm, &ranks), TREFOIL_SUCCESS);
    std::vector<int> sizes(static_cast<std::size_t>(dimensions)), wanted(sizes), here(sizes);
    trefoil_comm_torus(comm, &dimensions, sizes.data(), dimensions);
    trefoil_comm_coordinates(comm, rank, wanted.data(), dimensions);
    int& moved = wanted[slot / 2];
    moved = (moved + (slot % 2 == 0 ? -1 : 1) + sizes[slot / 2]) % sizes[slot / 2];
    for (int r = 0; r < ranks; ++r) {
        trefoil_comm_coordinates(comm, r, here.data(), dimensions);
        if (here == wanted) {
            return r;
        }
    }
    return -1;
}

/// What rank `from` sends to its `slot`.
std::int64_t value(int from, std::size_t slot, std::size_t i) {
    return from * 1'000'000 + static_cast<std::int64_t>(slot) * 100'000 +
           static_cast<std::int64_t>(i);
}
/// How much that is where counts differ.
std::size_t length(int from, std::size_t slot, std::size_t most) {
    return (static_cast<std::size_t>(from) * 7 + slot * 5) % (most + 1);
}

/// MPI: what goes in the positive direction is what the neighbour there gets from its negative one.
constexpr std::size_t slot_there(std::size_t slot) {
    return slot % 2 == 0 ? slot + 1 : slot - 1;
}

struct Rank {
    Rank(trefoil_comm_t its_comm, int its_rank, std::size_t how_many)
        : comm(its_comm), rank(its_rank), slots(how_many) {
        for (std::size_t s = 0; s < slots; ++s) {
            neighbours.push_back(neighbour(comm, rank, s));
        }
    }
    int at(std::size_t slot) const { return neighbours[slot]; }

    trefoil_comm_t comm;
    int rank;
    std::size_t slots;
    std::vector<int> neighbours;
};

void check_equal_blocks(const Rank& r, std::size_t count) {
    Numbers send, recv(r.slots * count, -1);
    for (std::size_t s = 0; s < r.slots; ++s) {
        for (std::size_t i = 0; i < count; ++i) {
            send.push_back(value(r.rank, s, i));
        }
    }
    ASSERT_EQ(trefoil_neighbor_alltoall(send.data(), recv.data(), count, TREFOIL_INT64, r.comm),
              TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    for (std::size_t s = 0; s < r.slots; ++s) {
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(recv[s * count + i], value(r.at(s), slot_there(s), i))
                << "slot " << s << ", element " << i << " of " << count;
        }
    }
    ASSERT_EQ(trefoil_neighbor_allgather(send.data(), recv.data(), count, TREFOIL_INT64, r.comm),
              TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    for (std::size_t s = 0; s < r.slots; ++s) {
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(recv[s * count + i], value(r.at(s), 0, i)) << "slot " << s;
        }
    }
}

/// Blocks from the last slot to the first, a gap behind each.
Sizes places(const Sizes& counts) {
    Sizes list(counts.size());
    std::size_t next = 2;
    for (std::size_t s = counts.size(); s-- > 0;) {
        list[s] = next;
        next += counts[s] + 3;
    }
    return list;
}
std::size_t room(const Sizes& counts) {
    return places(counts)[0] + counts[0] + 3;
}

void check_counts(const Rank& r, std::size_t most) {
    Sizes sent, received, gathered;
    for (std::size_t s = 0; s < r.slots; ++s) {
        sent.push_back(length(r.rank, s, most));
        received.push_back(length(r.at(s), slot_there(s), most));
        gathered.push_back(length(r.at(s), 0, most));
    }
    const Sizes sent_at = places(sent), received_at = places(received);
    Numbers send(room(sent), -2), recv(room(received), -1), expected = recv;
    for (std::size_t s = 0; s < r.slots; ++s) {
        for (std::size_t i = 0; i < sent[s]; ++i) {
            send[sent_at[s] + i] = value(r.rank, s, i);
        }
        for (std::size_t i = 0; i < received[s]; ++i) {
            expected[received_at[s] + i] = value(r.at(s), slot_there(s), i);
        }
    }
    ASSERT_EQ(
        trefoil_neighbor_alltoallv(send.data(), sent.data(), sent_at.data(), recv.data(),
                                   received.data(), received_at.data(), TREFOIL_INT64, r.comm),
        TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    ASSERT_EQ(recv, expected);

    const Sizes gathered_at = places(gathered);
    Numbers mine;
    for (std::size_t i = 0; i < sent[0]; ++i) {
        mine.push_back(value(r.rank, 0, i));
    }
    expected.assign(room(gathered), -1);
    recv = expected;
    for (std::size_t s = 0; s < r.slots; ++s) {
        for (std::size_t i = 0; i < gathered[s]; ++i) {
            expected[gathered_at[s] + i] = value(r.at(s), 0, i);
        }
    }
    ASSERT_EQ(trefoil_neighbor_allgatherv(mine.data(), mine.size(), recv.data(), gathered.data(),
                                          gathered_at.data(), TREFOIL_INT64, r.comm),
              TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    ASSERT_EQ(recv, expected);
}

class Neighbours : public testing::TestWithParam<const char*> {};

TEST_P(Neighbours, GetTheirBlocksInMpisOrder) {
    const Torus torus = Torus::parse(GetParam());
    JobOptions options;
    options.torus = GetParam();
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        const Rank r{comm, rank, static_cast<std::size_t>(torus.ports())};
        for (const std::size_t count : {0UL, 1UL, 37UL, 1000UL, 99'991UL}) {
            check_equal_blocks(r, count);
            check_counts(r, count);
            if (testing::Test::HasFatalFailure()) {
                return;
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Neighbours,
                         testing::Values("1", "1x1", "2", "3", "5", "2x2", "3x3", "3x1", "1x2x3",
                                         "2x4", "2x2x2"));

TEST(NeighboursElsewhere, GoByTheCoordinatesOfTheRanks) {
    static constexpr int places_of[] = {2, 0, 3, 1};
    JobOptions options;
    run_ranks(
        4, options,
        [](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            check_equal_blocks({comm, rank, 2}, 5);
            check_counts({comm, rank, 2}, 50);
        },
        [](int rank, trefoil_config_t& config) {
            config.torus = nullptr;
            config.coordinates = &places_of[rank];
            config.dimensions = 1;
        });
}

void expect_refused(trefoil_status_t status, trefoil_status_t expected, const char* words) {
    EXPECT_EQ(status, expected);
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find(words), std::string::npos)
        << words << ": " << trefoil_last_error(nullptr);
}

TEST(NeighbourMistakes, AreRefusedBeforeAnythingMoves) {
    JobOptions options;
    options.torus = "3x1";
    run_ranks(3, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        Numbers send(16, 1), recv(16, -1);
        constexpr auto wrong = TREFOIL_ERROR_INVALID_ARGUMENT;
        const Sizes ones(4, 1), alone{1, 1, 1, 2}, far{0, 1, 2, ~std::size_t{0} - 1},
            twice{0, 1, 1, 2};
        const auto alltoallv = [&](const Sizes* sent, const Sizes* received, const Sizes* at) {
            return trefoil_neighbor_alltoallv(
                send.data(), sent == nullptr ? nullptr : sent->data(), nullptr, recv.data(),
                received == nullptr ? nullptr : received->data(),
                at == nullptr ? nullptr : at->data(), TREFOIL_INT64, comm);
        };
        expect_refused(trefoil_neighbor_alltoall(nullptr, recv.data(), 1, TREFOIL_INT64, comm),
                       wrong, "send buffer is NULL, but has 32 bytes");
        expect_refused(trefoil_neighbor_allgather(nullptr, recv.data(), 1, TREFOIL_INT64, comm),
                       wrong, "send buffer is NULL, but has 8 bytes");
        expect_refused(
            trefoil_neighbor_alltoall(TREFOIL_IN_PLACE, recv.data(), 1, TREFOIL_INT64, comm), wrong,
            "TREFOIL_IN_PLACE, which it cannot be");
        expect_refused(trefoil_neighbor_allgather(recv.data(), recv.data(), 1, TREFOIL_INT64, comm),
                       wrong, "overlap");
        expect_refused(trefoil_neighbor_alltoall(send.data(), recv.data(), ~std::size_t{0} / 16,
                                                 TREFOIL_INT64, comm),
                       wrong, "address space");
        expect_refused(alltoallv(nullptr, &ones, nullptr), wrong, "send counts are NULL");
        expect_refused(alltoallv(&ones, nullptr, nullptr), wrong, "receive counts are NULL");
        expect_refused(alltoallv(&ones, &ones, &far), wrong, "receive block of neighbour 3");
        expect_refused(alltoallv(&ones, &ones, &twice), wrong,
                       "blocks of neighbour 1 and neighbour 2 overlap");
        expect_refused(alltoallv(&alone, &ones, nullptr), wrong, "itself is 2, but its receive");
        expect_refused(trefoil_neighbor_allgatherv(send.data(), 2, recv.data(), ones.data(),
                                                   nullptr, TREFOIL_INT64, comm),
                       wrong, "itself is 2, but its receive");
        EXPECT_EQ(recv, Numbers(16, -1));
        EXPECT_EQ(alltoallv(&ones, &ones, nullptr), TREFOIL_SUCCESS);
    });
}

/// Rank 1 sends more in the positive direction than its neighbour there expects.
trefoil_status_t disagreeing_call(int rank, trefoil_comm_t comm) {
    const Sizes sent{1, rank == 1 ? 2UL : 1UL}, expected{1, 1};
    Numbers send(4, rank), recv(4, -1);
    return trefoil_neighbor_alltoallv(send.data(), sent.data(), nullptr, recv.data(),
                                      expected.data(), nullptr, TREFOIL_INT64, comm);
}

TEST(NeighbourCounts, ThatDifferAreFoundByTheMessage) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        const trefoil_status_t status = disagreeing_call(rank, comm);
        if (rank == 2) {  // what it gets is not what it expects
            EXPECT_EQ(status, TREFOIL_ERROR_MISMATCH) << trefoil_last_error(nullptr);
        }
    });
}

TEST(NeighbourCounts, ThatDifferAreComparedOnRequest) {
    const Variable check("TREFOIL_CHECK", "1");
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        EXPECT_EQ(disagreeing_call(rank, comm), TREFOIL_ERROR_MISMATCH);
        EXPECT_NE(std::string(trefoil_last_error(nullptr))
                      .find("rank 2 expects 1 elements of neighbour 0, which sends 2"),
                  std::string::npos)
            << trefoil_last_error(nullptr);
        check_equal_blocks({comm, rank, 2}, 3);  // all go on
        check_counts({comm, rank, 2}, 20);
    });
}

}  // namespace
}  // namespace trefoil::test::neighbours_test
