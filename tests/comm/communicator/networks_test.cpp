// SPDX-License-Identifier: BSD-3-Clause
// Collectives on networks that are not whole tori: what text, coordinates or measurements say.
#include <cstdlib>
#include <string>
#include <vector>

#include "algorithms/registry/registry.hpp"
#include "collective_check.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::networks_test {
namespace {

/// By auto, and by what was made for networks.
void check_all(int rank, trefoil_comm_t comm, const Torus& torus) {
    ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.name != "packed" || !algorithm.refusal(torus).empty()) {
            continue;
        }
        for (const char* name : {"auto", "packed"}) {
            for (const std::size_t count : {1UL, 1000UL}) {
                const CollectiveCase one{.collective = algorithm.collective,
                                         .algorithm = name,
                                         .root = torus.ranks() / 2,
                                         .count = count};
                ASSERT_EQ(check_collective(comm, one), "") << describe(one) << " rank " << rank;
            }
        }
    }
    for (const Algorithm& algorithm : algorithms()) {
        const bool steps = algorithm.name == "few-steps", trees = algorithm.name == "few-trees";
        if ((steps || trees) && algorithm.refusal(torus).empty()) {
            const CollectiveCase one{.collective = algorithm.collective,
                                     .algorithm = std::string(algorithm.name),
                                     .count = trees ? 20000UL : 100UL};
            ASSERT_EQ(check_collective(comm, one), "") << describe(one) << " rank " << rank;
        }
    }
    for (const Collective collective :
         {Collective::alltoall, Collective::neighbor_alltoall, Collective::neighbor_allgather}) {
        for (const std::size_t count : {10UL, 50000UL}) {
            const CollectiveCase one{.collective = collective, .count = count};
            ASSERT_EQ(check_collective(comm, one), "") << describe(one) << " rank " << rank;
        }
    }
}

/// Rows and halves of a damaged network; and a scan, which needs ranks in the order of places.
void check_derived(int rank, trefoil_comm_t comm, const Torus& torus) {
    const CollectiveCase scan{.collective = Collective::scan, .count = 10};
    ASSERT_EQ(check_collective(comm, scan), "") << "rank " << rank;
    trefoil_comm_t half = nullptr;
    ASSERT_EQ(trefoil_comm_split(comm, rank % 2, 0, &half), TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    for (const Collective collective : {Collective::allreduce, Collective::alltoall}) {
        const CollectiveCase one{.collective = collective, .count = 1000};
        ASSERT_EQ(check_collective(half, one), "") << describe(one) << " rank " << rank;
    }
    ASSERT_EQ(trefoil_comm_destroy(half), TREFOIL_SUCCESS);
    trefoil_comm_t backwards = nullptr;
    ASSERT_EQ(trefoil_comm_split(comm, 0, -rank, &backwards), TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    for (const char* name : {"auto", "packed"}) {
        const CollectiveCase one{
            .collective = Collective::allreduce, .algorithm = name, .count = 1000};
        ASSERT_EQ(check_collective(backwards, one), "") << describe(one) << " rank " << rank;
    }
    ASSERT_EQ(trefoil_comm_destroy(backwards), TREFOIL_SUCCESS);
    std::vector<int> keep(static_cast<std::size_t>(torus.dimensions()));
    keep[0] = 1;
    trefoil_comm_t row = nullptr;
    ASSERT_EQ(trefoil_comm_sub(comm, keep.data(), &row), TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    const CollectiveCase one{.collective = Collective::allreduce, .count = 1000};
    ASSERT_EQ(check_collective(row, one), "") << "rank " << rank;
    ASSERT_EQ(trefoil_comm_destroy(row), TREFOIL_SUCCESS);
}

class Networks : public testing::TestWithParam<const char*> {};

TEST_P(Networks, CarryCollectives) {
    const Torus torus = Torus::parse(GetParam());
    for (const int threads : {0, 2}) {
        JobOptions options;
        options.torus = GetParam();
        options.port_threads = threads;
        run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
            check_all(rank, comm, torus);
            check_derived(rank, comm, torus);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Damaged, Networks,
                         testing::Values("3x3:cable=+0@4", "4x2:node=5", "2x4:twist=0=1+2", "3mx3m",
                                         "2x2x2:node=7", "8:cable=+0@3=0.5", "2x3:cable=+0@0",
                                         "3x3:node=4", "3x3x1:node=0"));

TEST(MissingNodes, AreWhereNoRankHasCoordinates) {
    const std::vector<std::vector<int>> places{{2, 2}, {0, 0}, {0, 1}, {2, 0},
                                               {1, 0}, {1, 2}, {0, 2}, {2, 1}};
    run_ranks(
        8, {},
        [&](int rank, trefoil_comm_t comm) { check_all(rank, comm, Torus::parse("3x3:node=4")); },
        [&](int rank, trefoil_config_t& config) {
            config.coordinates = places[static_cast<std::size_t>(rank)].data();
            config.dimensions = 2;
        });
}

class FoundLinksJob : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override { setenv("TREFOIL_LINKS", GetParam(), 1); }
    void TearDown() override { unsetenv("TREFOIL_LINKS"); }
};

/// Whatever is found, results are right.
TEST_P(FoundLinksJob, ComputesRightly) {
    for (const char* text : {"2x2", "3", "3x2"}) {
        const Torus torus = Torus::parse(text);
        JobOptions options;
        options.torus = text;
        run_ranks(torus.ranks(), options,
                  [&](int rank, trefoil_comm_t comm) { check_all(rank, comm, torus); });
    }
}

TEST_P(FoundLinksJob, RefusesNodesOfSeveralRanks) {
    JobOptions options;
    options.torus = "2x2h";
    run_ranks(4, options, [&](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("TREFOIL_LINKS"),
                  std::string::npos);
    });
}

INSTANTIATE_TEST_SUITE_P(By, FoundLinksJob, testing::Values("asked", "measured"));

TEST(FoundLinks, MeasuringRefusesWhatHasNoPortsOfItsOwn) {
    setenv("TREFOIL_LINKS", "measured", 1);
    JobOptions options;
    options.torus = "2x2:node=3";
    run_ranks(3, options, [&](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("TREFOIL_LINKS=asked"),
                  std::string::npos);
    });
    unsetenv("TREFOIL_LINKS");
}

}  // namespace
}  // namespace trefoil::test::networks_test
