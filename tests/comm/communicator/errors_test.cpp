// SPDX-License-Identifier: BSD-3-Clause
// Bad input and lost peers: a status and a message that helps, on every rank, and never a hang.
#include <atomic>
#include <cstdlib>
#include <limits>

#include "tests/backend/registry/transports_to_test.hpp"
#include "thread_job.hpp"

namespace trefoil::test::errors_test {
namespace {

bool mentions(const std::string& text, const std::string& word) {
    return text.find(word) != std::string::npos;
}

TEST(Errors, ArgumentsOfAllreduceAreCheckedBeforeAnythingMoves) {
    JobOptions options;
    options.torus = "2";
    run_ranks(2, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        float a[4] = {1, 2, 3, 4}, b[4] = {};
        const auto refused = [&](trefoil_status_t status, const char* word) {
            EXPECT_NE(status, TREFOIL_SUCCESS);
            EXPECT_TRUE(mentions(trefoil_last_error(nullptr), word)) << trefoil_last_error(nullptr);
            return status;
        };
        EXPECT_EQ(
            refused(trefoil_allreduce(nullptr, b, 4, TREFOIL_FLOAT, TREFOIL_SUM, comm), "send"),
            TREFOIL_ERROR_INVALID_ARGUMENT);
        refused(trefoil_allreduce(a, nullptr, 4, TREFOIL_FLOAT, TREFOIL_SUM, comm), "receive");
        refused(trefoil_allreduce(a, b, 4, TREFOIL_FLOAT, TREFOIL_SUM, nullptr), "communicator");
        refused(trefoil_allreduce(a, a + 1, 3, TREFOIL_FLOAT, TREFOIL_SUM, comm), "overlap");
        refused(trefoil_allreduce(a, b, 4, static_cast<trefoil_datatype_t>(99), TREFOIL_SUM, comm),
                "datatype");
        refused(trefoil_allreduce(a, b, 4, TREFOIL_FLOAT, static_cast<trefoil_op_t>(99), comm),
                "op");
        refused(trefoil_allreduce(a, b, std::numeric_limits<size_t>::max() / 2, TREFOIL_DOUBLE,
                                  TREFOIL_SUM, comm),
                "address space");
        EXPECT_EQ(refused(trefoil_allreduce(a, b, 4, TREFOIL_FLOAT, TREFOIL_BXOR, comm),
                          "makes no sense"),
                  TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_EQ(refused(trefoil_allreduce(a, b, 4, TREFOIL_FLOAT, TREFOIL_MINLOC, comm),
                          "minloc is for float-int"),
                  TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_EQ(refused(trefoil_allreduce(a, b, 2, TREFOIL_FLOAT_INT, TREFOIL_SUM, comm),
                          "float-int takes minloc and maxloc"),
                  TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_EQ(b[0], 0.0F);
        // After all that the communicator still works.
        ASSERT_EQ(trefoil_allreduce(a, b, 4, TREFOIL_FLOAT, TREFOIL_SUM, comm), TREFOIL_SUCCESS);
        EXPECT_EQ(b[3], 8.0F);
        EXPECT_EQ(reason_of_failure(comm), "");
    });
}

// A program asks the communicator that it has called, whether that lives on or not.
TEST(Errors, TheLastErrorOfACommunicatorThatLivesOnIsThatOfThisThread) {
    run_ranks(1, JobOptions(), [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        EXPECT_EQ(trefoil_bcast(nullptr, 4, TREFOIL_FLOAT, 0, comm),
                  TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_TRUE(mentions(trefoil_last_error(comm), "NULL")) << trefoil_last_error(comm);
        EXPECT_STREQ(trefoil_last_error(comm), trefoil_last_error(nullptr));
        EXPECT_EQ(reason_of_failure(comm), "");
        std::thread([&] { EXPECT_STREQ(trefoil_last_error(comm), ""); }).join();
    });
}

TEST(Errors, PortThreadsWithoutATeamAreRefused) {
    setenv("TREFOIL_PORT_THREADS_BY", "caller", 1);
    JobOptions options;
    options.torus = "2";
    options.port_threads = 2;
    run_ranks(2, options, [](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_TRUE(mentions(trefoil_last_error(nullptr), "TREFOIL_PORT_THREADS_BY=dedicated"))
            << trefoil_last_error(nullptr);
    });
    unsetenv("TREFOIL_PORT_THREADS_BY");
}

TEST(Errors, UnknownAlgorithmsOfferTheNearestNames) {
    JobOptions options;
    options.torus = "3x3";
    run_ranks(9, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        EXPECT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "trivence-l"),
                  TREFOIL_ERROR_NOT_FOUND);
        EXPECT_TRUE(mentions(trefoil_last_error(nullptr), "trivance-l"));
        EXPECT_EQ(trefoil_comm_set_algorithm(comm, "allgatherr", "ring"), TREFOIL_ERROR_NOT_FOUND);
    });
}

TEST(Errors, AWrongTorusIsRefusedOnAllRanks) {
    JobOptions options;
    options.torus = "2x2";
    run_ranks(3, options, [](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_TRUE(mentions(trefoil_last_error(nullptr), "product is 3"))
            << trefoil_last_error(nullptr);
    });
}

TEST(Errors, OneRankWithABadConfigurationIsNamedByTheOthers) {
    JobOptions options;
    options.torus = "3";
    run_ranks(
        3, options,
        [](int rank, trefoil_comm_t comm) {
            EXPECT_EQ(comm, nullptr);
            EXPECT_TRUE(mentions(trefoil_last_error(nullptr), rank == 1 ? "nonsense" : "rank 1"))
                << trefoil_last_error(nullptr);
        },
        [](int rank, trefoil_config_t& config) {
            if (rank == 1) {
                config.algorithm = "nonsense";
            }
        });
}

TEST(Errors, UnknownBackendsNameThoseThatExist) {
    JobOptions options;
    options.torus = "2";
    options.backend = "carrier-pigeon";
    run_ranks(2, options, [](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_TRUE(mentions(trefoil_last_error(nullptr), "memory"));
    });
}

TEST(Errors, MorePortThreadsThanPortsAreRefusedOnAllRanks) {
    JobOptions options;
    options.torus = "2x2";
    run_ranks(
        4, options,
        [](int rank, trefoil_comm_t comm) {
            EXPECT_EQ(comm, nullptr);
            const std::string text = trefoil_last_error(nullptr);
            EXPECT_TRUE(mentions(text, "TREFOIL_PORT_THREADS is 5") && mentions(text, "0 to 4"))
                << text;
            EXPECT_EQ(mentions(text, "rank 3 cannot"), rank != 3) << text;
        },
        [](int rank, trefoil_config_t& config) { config.port_threads = rank == 3 ? 5 : 4; });
}

TEST(Errors, ACoreOutsideTheMaskIsRefusedOnAllRanks) {
    JobOptions options;
    options.torus = "2";
    setenv("TREFOIL_PIN", "65535", 1);
    run_ranks(2, options, [](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_TRUE(mentions(trefoil_last_error(nullptr), "core 65535"))
            << trefoil_last_error(nullptr);
    });
    unsetenv("TREFOIL_PIN");
}

TEST(Errors, ANicThatOneRankDoesNotHaveIsNamedByAll) {
    if (!is_built("ofi")) {
        GTEST_SKIP() << "this build has no backend ofi";
    }
    for (const char* nics : {"no_such_nic", "no_such_*", "+0=no_such_nic"}) {
        JobOptions options;
        options.torus = "3";
        options.backend = "ofi";
        options.provider = "net";
        run_ranks(
            3, options,
            [](int rank, trefoil_comm_t comm) {
                EXPECT_EQ(comm, nullptr);
                const std::string text = trefoil_last_error(nullptr);
                EXPECT_TRUE(mentions(text, "\"no_such_") && mentions(text, "lo (127.0.0.1"))
                    << text;
                EXPECT_EQ(mentions(text, "rank 1 cannot"), rank != 1) << text;
            },
            [&](int rank, trefoil_config_t& config) { config.nics = rank == 1 ? nics : "lo"; });
    }
}

TEST(Errors, RanksThatDisagreeOnTheConfigurationAreRefusedWithTheDifference) {
    JobOptions options;
    run_ranks(
        4, options,
        [](int, trefoil_comm_t comm) {
            EXPECT_EQ(comm, nullptr);
            const std::string text = trefoil_last_error(nullptr);
            EXPECT_TRUE(mentions(text, "torus 4,") && mentions(text, "torus 2x2")) << text;
        },
        [](int rank, trefoil_config_t& config) { config.torus = rank == 3 ? "4" : "2x2"; });
}

TEST(Errors, AfterAnUnsupportedCallTheCommunicatorGoesOn) {
    setenv("TREFOIL_LANDING_BYTES", "16K", 1);  // too little for the ring's many steps
    JobOptions options;
    options.torus = "16";
    options.algorithm = "ring";
    run_ranks(16, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        std::vector<std::int32_t> data(1000, 1);
        const auto allreduce = [&] {
            return trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), data.size(), TREFOIL_INT32,
                                     TREFOIL_SUM, comm);
        };
        EXPECT_EQ(allreduce(), TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_TRUE(mentions(trefoil_last_error(nullptr), "TREFOIL_LANDING_BYTES"));
        // The barrier's plan is older than the ring's channels, which exist by now.
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS) << trefoil_last_error(comm);
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "trivance-l"), TREFOIL_SUCCESS);
        ASSERT_EQ(allreduce(), TREFOIL_SUCCESS) << trefoil_last_error(comm);
        EXPECT_EQ(data[999], 16);
    });
    unsetenv("TREFOIL_LANDING_BYTES");
}

TEST(Errors, APeerThatNeverComesEndsInATimeoutThatNamesIt) {
    JobOptions options;
    options.torus = "3";
    options.timeout_seconds = 1.5;
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        if (rank == 2) {
            return;
        }
        const trefoil_status_t status = trefoil_barrier(comm);
        EXPECT_TRUE(status == TREFOIL_ERROR_TIMEOUT || status == TREFOIL_ERROR_PEER_LOST);
        EXPECT_TRUE(mentions(trefoil_last_error(comm), "rank")) << trefoil_last_error(comm);
    });
}

TEST(Errors, ASecondThreadInOneCommunicatorIsRefused) {
    JobOptions options;
    options.torus = "2";
    std::atomic<bool> refused{false};
    run_ranks(2, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        if (rank == 1) {
            // Rank 0 sits in its barrier until this rank comes; bounded by 10 s.
            for (int i = 0; i < 1000 && !refused; ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
            return;
        }
        std::thread second([&] {
            for (int i = 0; i < 1000 && !refused; ++i) {
                const char* name = nullptr;
                refused = trefoil_comm_algorithm(comm, "allreduce", 1, TREFOIL_FLOAT, &name) ==
                          TREFOIL_ERROR_BUSY;
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        });
        // The probe may hold the communicator for a moment itself.
        trefoil_status_t status = TREFOIL_ERROR_BUSY;
        for (int i = 0; i < 1000 && status == TREFOIL_ERROR_BUSY; ++i) {
            status = trefoil_barrier(comm);
        }
        EXPECT_EQ(status, TREFOIL_SUCCESS);
        second.join();
    });
    EXPECT_TRUE(refused);
}

TEST(Errors, ConfigurationOfOneRankNeedsNothing) {
    trefoil_comm_t comm = nullptr;
    ASSERT_EQ(trefoil_comm_create(nullptr, &comm), TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    double x = 2.5, y = 0;
    EXPECT_EQ(trefoil_allreduce(&x, &y, 1, TREFOIL_DOUBLE, TREFOIL_PROD, comm), TREFOIL_SUCCESS);
    EXPECT_EQ(y, 2.5);
    EXPECT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
    EXPECT_EQ(trefoil_comm_destroy(comm), TREFOIL_SUCCESS);
    EXPECT_EQ(trefoil_comm_destroy(nullptr), TREFOIL_SUCCESS);
    EXPECT_EQ(trefoil_comm_create(nullptr, nullptr), TREFOIL_ERROR_INVALID_ARGUMENT);
    trefoil_config_t broken = TREFOIL_CONFIG_INITIALIZER;
    broken.size = 3;
    EXPECT_EQ(trefoil_comm_create(&broken, &comm), TREFOIL_ERROR_INVALID_ARGUMENT);
    trefoil_config_t no_allgather = TREFOIL_CONFIG_INITIALIZER;
    no_allgather.ranks = 4;
    EXPECT_EQ(trefoil_comm_create(&no_allgather, &comm), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(comm, nullptr);
}

}  // namespace
}  // namespace trefoil::test::errors_test
