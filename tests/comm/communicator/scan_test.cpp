// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan: in the order of the ranks by every algorithm, in place, what rank 0 keeps, and
// what is refused.
#include <cstdint>
#include <string>
#include <vector>

#include "affine.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::scan_test {
namespace {

Affine input(int rank, std::size_t i) {
    const auto r = static_cast<std::uint32_t>(rank), n = static_cast<std::uint32_t>(i);
    return {2 * r + 3 + 2 * n, 7 * r + n + 1};
}
Affine prefix(int contributors, std::size_t i) {
    Affine result = input(0, i);
    for (int r = 1; r < contributors; ++r) {
        result = composed(result, input(r, i));
    }
    return result;
}

constexpr Affine untouched{77, 78};

void check_call(trefoil_comm_t comm, const CollectiveTraits& row, trefoil_op_t op, int rank,
                int ranks, std::size_t count, bool in_place) {
    std::vector<Affine> send(count), recv(count, untouched);
    for (std::size_t i = 0; i < count; ++i) {
        send[i] = input(rank, i);
    }
    const std::vector<Affine> sent = send;
    if (in_place) {
        recv = send;
    }
    const void* const from = in_place ? TREFOIL_IN_PLACE : send.data();
    const bool whole = row.prefix == Prefix::inclusive;
    ASSERT_EQ(whole ? trefoil_scan(from, recv.data(), count, TREFOIL_ELEMENT, op, comm)
                    : trefoil_exscan(from, recv.data(), count, TREFOIL_ELEMENT, op, comm),
              TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    EXPECT_EQ(send, sent);
    for (std::size_t i = 0; i < count; ++i) {
        const Affine kept = in_place ? sent[i] : untouched;
        const bool takes = row.out.held_by(rank, 0);
        ASSERT_EQ(recv[i], takes ? prefix(row.contributors(rank, ranks), i) : kept)
            << row.name << " on rank " << rank << ", element " << i << " of " << count;
    }
}

class Scans : public testing::TestWithParam<const char*> {};

TEST_P(Scans, GoInRankOrderByEveryAlgorithm) {
    const Torus torus = Torus::parse(GetParam());
    trefoil_op_t op = TREFOIL_SUM;
    ASSERT_EQ(trefoil_op_create(compose, nullptr, sizeof(Affine), 0, &op), TREFOIL_SUCCESS);
    JobOptions options;
    options.torus = GetParam();
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int turn = torus.ranks();  // in place or not, and otherwise on the next torus
        for (const Algorithm& a : algorithms()) {
            const CollectiveTraits& row = traits_of(a.collective);
            if (!row.is_prefix()) {
                continue;
            }
            SCOPED_TRACE(a.name);
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, std::string(row.name).c_str(),
                                                 std::string(a.name).c_str()),
                      TREFOIL_SUCCESS);
            for (const std::size_t count : {0UL, 1UL, 37UL, 3000UL, 100'000UL}) {
                check_call(comm, row, op, rank, torus.ranks(), count, ++turn % 2 == 0);
                if (testing::Test::HasFatalFailure()) {
                    return;
                }
            }
        }
    });
    EXPECT_EQ(trefoil_op_free(op), TREFOIL_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Scans,
                         testing::Values("1", "2", "3", "7", "8", "2x2", "3x3", "2x5", "2x2x2",
                                         "2x1x3"),
                         name_of_shape);

// Rank 0 of an exscan receives nothing and may say so.
TEST(Exscan, TakesNoReceiveBufferOfRankZero) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        const int mine = rank + 1;
        int sum = -1;
        ASSERT_EQ(
            trefoil_exscan(&mine, rank == 0 ? nullptr : &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
            TREFOIL_SUCCESS);
        EXPECT_EQ(sum, rank == 0 ? -1 : rank * (rank + 1) / 2);
    });
}

TEST(ScanRefusals, NameWhatCannotBe) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        const int mine = 1;
        int sum = 0;
        EXPECT_EQ(trefoil_scan(&mine, &sum, 1, TREFOIL_INT32, TREFOIL_AVG, comm),
                  TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("avg is not for scan"),
                  std::string::npos);
        EXPECT_EQ(sum, 0);
    });
}

// Schedules know places, and go by them; the result goes by the ranks.
TEST(ScanRefusals, NameRanksThatDoNotLieRowByRow) {
    JobOptions options;
    static constexpr int places[] = {2, 1, 0};
    run_ranks(
        3, options,
        [](int, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            const int mine = 1;
            int sum = 0;
            EXPECT_EQ(trefoil_scan(&mine, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                      TREFOIL_ERROR_UNSUPPORTED);
            EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("scan needs ranks that lie"),
                      std::string::npos);
            ASSERT_EQ(trefoil_allreduce(&mine, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS);
            EXPECT_EQ(sum, 3);
        },
        [](int rank, trefoil_config_t& config) {
            config.coordinates = &places[rank];
            config.dimensions = 1;
        });
}

}  // namespace
}  // namespace trefoil::test::scan_test
