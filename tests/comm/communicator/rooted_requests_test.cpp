// SPDX-License-Identifier: BSD-3-Clause
// Gatherv and scatterv in flight, whose counts only the root and each rank know: which algorithms
// they use, and what TREFOIL_CHECK finds.
#include <array>
#include <cstdlib>
#include <numeric>

#include "thread_job.hpp"

namespace trefoil::test {
namespace {

constexpr int root = 1;

JobOptions options_on(const std::string& torus) {
    JobOptions options;
    options.torus = torus;
    return options;
}

/// Rank r's block; one spans several segments, another is empty.
std::size_t count_of(int rank) {
    return rank == 2 ? 700'000 : rank == 3 ? 0 : 10 + static_cast<std::size_t>(rank);
}

/// A gatherv, and a scatterv of the same blocks, with a gap before each at the root.
struct Rooted {
    Rooted(int own_rank, int ranks) : rank(own_rank), own(count_of(rank)), back(own.size(), -1) {
        std::iota(own.begin(), own.end(), 1000 * rank);
        for (int r = 0; rank == root && r < ranks; ++r) {
            std::vector<int> block(count_of(r));
            std::iota(block.begin(), block.end(), 1000 * r);
            expected.insert(expected.end(), 3, -1);
            counts.push_back(block.size());
            displacements.push_back(expected.size());
            expected.insert(expected.end(), block.begin(), block.end());
        }
        all.assign(expected.size(), -1);
    }

    /// Begins it, or prepares it.
    trefoil_status_t gather(trefoil_comm_t comm, bool persistent, trefoil_request_t* request) {
        const auto call = persistent ? trefoil_gatherv_init : trefoil_igatherv;
        return call(own.data(), own.size(), all.data(), counts.data(), displacements.data(),
                    TREFOIL_INT32, root, comm, request);
    }
    trefoil_status_t scatter(trefoil_comm_t comm, bool persistent, trefoil_request_t* request) {
        const auto call = persistent ? trefoil_scatterv_init : trefoil_iscatterv;
        return call(expected.data(), counts.data(), displacements.data(), back.data(), back.size(),
                    TREFOIL_INT32, root, comm, request);
    }
    trefoil_status_t gather_now(trefoil_comm_t comm) {
        return trefoil_gatherv(own.data(), own.size(), all.data(), counts.data(),
                               displacements.data(), TREFOIL_INT32, root, comm);
    }
    trefoil_status_t scatter_now(trefoil_comm_t comm) {
        return trefoil_scatterv(expected.data(), counts.data(), displacements.data(), back.data(),
                                back.size(), TREFOIL_INT32, root, comm);
    }
    /// And makes all ready for another time.
    void expect_right() {
        EXPECT_EQ(all, expected) << "rank " << rank;
        EXPECT_EQ(back, own) << "rank " << rank;
        std::fill(all.begin(), all.end(), -1);
        std::fill(back.begin(), back.end(), -1);
    }

    int rank;
    std::vector<int> own, back, all, expected;
    std::vector<std::size_t> counts, displacements;
};

void expect_ok(trefoil_status_t status) {
    EXPECT_EQ(status, TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
}
void expect_error(trefoil_status_t status, trefoil_status_t expected, const std::string& words) {
    const std::string error = trefoil_last_error(nullptr);
    EXPECT_EQ(status, expected) << error;
    EXPECT_NE(error.find(words), std::string::npos) << error;
}

/// Both in flight, and both twice as persistent calls.
void run_in_flight(Rooted& rooted, trefoil_comm_t comm) {
    std::array<trefoil_request_t, 2> calls{};
    expect_ok(rooted.gather(comm, false, &calls[0]));
    expect_ok(rooted.scatter(comm, false, &calls[1]));
    expect_ok(trefoil_waitall(2, calls.data()));
    rooted.expect_right();
    expect_ok(rooted.gather(comm, true, &calls[0]));
    expect_ok(rooted.scatter(comm, true, &calls[1]));
    for (int i = 0; i < 2; ++i) {
        expect_ok(trefoil_startall(2, calls.data()));
        expect_ok(trefoil_waitall(2, calls.data()));
        rooted.expect_right();
    }
    for (trefoil_request_t& call : calls) {
        expect_ok(trefoil_request_free(&call));
    }
}

void set(trefoil_comm_t comm, const char* collective, const char* algorithm) {
    expect_ok(trefoil_comm_set_algorithm(comm, collective, algorithm));
}

TEST(RootedRequests, GoStraightAndConnectNobodyButTheRoot) {
    run_ranks(9, options_on("3x3"), [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        Rooted rooted(rank, 9);
        run_in_flight(rooted, comm);
        trefoil_resources_t held{};
        held.size = sizeof held;
        ASSERT_EQ(trefoil_comm_resources(comm, &held), TREFOIL_SUCCESS);
        // A rank that has nothing to send needs no connection.
        EXPECT_LE(held.peers, rank == root ? 8 : 1);
        EXPECT_GE(held.peers, rank == root ? 7 : 0);
    });
}

TEST(RootedRequests, DoNotMindWhatAlltoallUses) {
    run_ranks(5, options_on("5"), [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        set(comm, "alltoall", "bruck");  // takes blocks of one size alone
        Rooted rooted(rank, 5);
        run_in_flight(rooted, comm);
    });
}

TEST(RootedRequests, UseTheAlgorithmThatIsSetOrRefuse) {
    run_ranks(6, options_on("2x3"), [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        Rooted rooted(rank, 6);
        for (const char* collective : {"gather", "scatter"}) {
            set(comm, collective, "bine-dd");
        }
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        for (const bool persistent : {false, true}) {
            expect_error(rooted.gather(comm, persistent, &request), TREFOIL_ERROR_UNSUPPORTED,
                         "bine-dd forwards blocks, whose counts");
            expect_error(rooted.scatter(comm, persistent, &request), TREFOIL_ERROR_UNSUPPORTED,
                         "the scatterv that blocks");
        }
        // A call that blocks tells all ranks the counts first.
        expect_ok(rooted.gather_now(comm));
        expect_ok(rooted.scatter_now(comm));
        rooted.expect_right();
        for (const char* collective : {"gather", "scatter"}) {
            set(comm, collective, "linear:single-port");
        }
        run_in_flight(rooted, comm);
    });
}

TEST(RootedRequests, OfOneRankFindItsBlock) {
    run_ranks(1, options_on("1"), [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        const std::array<int, 5> send{1, 2, 3, 4, 5};
        const std::size_t count = 2, place = 3;
        std::array<int, 2> recv{};
        expect_ok(
            trefoil_scatterv(send.data(), &count, &place, recv.data(), 2, TREFOIL_INT32, 0, comm));
        EXPECT_EQ(recv, (std::array<int, 2>{4, 5}));
        recv = {};
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        expect_ok(trefoil_iscatterv(send.data(), &count, &place, recv.data(), 2, TREFOIL_INT32, 0,
                                    comm, &request));
        expect_ok(trefoil_wait(&request));
        EXPECT_EQ(recv, (std::array<int, 2>{4, 5}));
    });
}

class CheckedRootedRequests : public testing::Test {
  protected:
    CheckedRootedRequests() { setenv("TREFOIL_CHECK", "1", 1); }
    ~CheckedRootedRequests() override { unsetenv("TREFOIL_CHECK"); }
};

TEST_F(CheckedRootedRequests, TellWhichCountsDiffer) {
    run_ranks(4, options_on("2x2"), [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        Rooted rooted(rank, 4);
        run_in_flight(rooted, comm);
        if (rank == 0) {
            rooted.own.pop_back();
            rooted.back.pop_back();
        }
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        expect_error(rooted.gather(comm, false, &request), TREFOIL_ERROR_MISMATCH,
                     "rank 1 expects 10 elements of rank 0, which sends 9");
        expect_error(rooted.scatter(comm, false, &request), TREFOIL_ERROR_MISMATCH,
                     "rank 0 expects 9 elements of rank 1, which sends 10");
    });
}

}  // namespace
}  // namespace trefoil::test
