// SPDX-License-Identifier: BSD-3-Clause
// What communicators say, and to whom: by the configuration and by variables.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "tests/comm/communicator/thread_job.hpp"
#include "tests/variable.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::test {
namespace {

/// What a communicator's function has got.
class Listener {
  public:
    static void hear(trefoil_log_level_t level, const char* topic, const char* text,
                     void* context) {
        auto* const self = static_cast<Listener*>(context);
        const std::scoped_lock lock(self->mutex_);
        self->said_.push_back(std::to_string(level) + " " + topic + ": " + text);
    }
    /// How many lines have all of these.
    std::size_t count(std::initializer_list<const char*> words) const {
        return static_cast<std::size_t>(
            std::count_if(said_.begin(), said_.end(), [&](const std::string& line) {
                return std::all_of(words.begin(), words.end(), [&](const char* word) {
                    return line.find(word) != std::string::npos;
                });
            }));
    }
    std::string all() const {
        std::string text;
        for (const std::string& line : said_) {
            text += line + "\n";
        }
        return text;
    }

  private:
    std::mutex mutex_;
    std::vector<std::string> said_;
};

/// A job whose words the listener gets, up to `level`.
void run_heard(int ranks, Listener& listener, const char* level,
               const std::function<void(int, trefoil_comm_t)>& body) {
    run_ranks(ranks, {}, body, [&](int, trefoil_config_t& config) {
        config.log = level;
        config.log_function = Listener::hear;
        config.log_context = &listener;
    });
}

TEST(CommunicatorLog, SaysWhatWasSetUpAndChosenOnce) {
    Listener listener;
    testing::internal::CaptureStderr();
    run_heard(4, listener, "info", [](int, trefoil_comm_t comm) {
        std::vector<int> values(100, 1);
        for (int i = 0; i < 3; ++i) {
            ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, values.data(), values.size(),
                                        TREFOIL_INT32, TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS);
        }
    });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(listener.count({"3 setup: Trefoil ", "rank 2 of 4"}), 1U) << listener.all();
    EXPECT_EQ(listener.count({"3 setup: torus 2x2 (balanced by default), this rank at 1,1"}), 1U)
        << listener.all();
    EXPECT_EQ(listener.count({"3 transport: backend "}), 4U) << listener.all();
    EXPECT_EQ(listener.count({"3 choice: allreduce", " by ", "us by the model; next "}), 4U)
        << listener.all();
    EXPECT_GE(listener.count({"3 transport: ", "channels out", "landing memory"}), 4U)
        << listener.all();
    EXPECT_EQ(listener.count({"4 "}), listener.count({"4 ", "3 "})) << listener.all();
}

TEST(CommunicatorLog, TopicsAreLeftOut) {
    Listener listener;
    run_heard(2, listener, "debug,transport",
              [](int, trefoil_comm_t comm) { EXPECT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS); });
    EXPECT_GE(listener.count({"4 transport: connects: "}), 2U) << listener.all();
    EXPECT_EQ(listener.count({"setup:"}) + listener.count({"choice:"}), 0U) << listener.all();
}

TEST(CommunicatorLog, WarningsAloneByDefault) {
    Listener listener;
    const Variable unknown("TREFOIL_TORSU", "3");
    run_heard(2, listener, nullptr,
              [](int, trefoil_comm_t comm) { EXPECT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS); });
    EXPECT_EQ(listener.all(),
              "2 setup: unknown environment variable TREFOIL_TORSU; did you mean TREFOIL_TORUS?\n");
}

TEST(CommunicatorLog, FailuresAreToldToThoseWhoAsk) {
    Listener listener;
    run_heard(2, listener, "info,call", [](int rank, trefoil_comm_t comm) {
        int value = 0;
        EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, &value, 1,
                                    rank == 0 ? TREFOIL_INT32 : TREFOIL_FLOAT, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_MISMATCH);
    });
    EXPECT_EQ(listener.count({"3 call: the communicator has failed: "}), 2U) << listener.all();
}

TEST(CommunicatorLog, WhatIsNotValidIsRefused) {
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    config.ranks = 1;
    config.log = "info,choise";
    trefoil_comm_t comm = nullptr;
    EXPECT_EQ(trefoil_comm_create(&config, &comm), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("\"choise\" is not a topic"),
              std::string::npos);
    config.log = nullptr;
    const Variable level("TREFOIL_LOG", "lots");
    EXPECT_EQ(trefoil_comm_create(&config, &comm), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("TREFOIL_LOG=lots is not valid"),
              std::string::npos);
}

TEST(OwnWords, GoWhereTheProcessesGo) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(trefoil_log(TREFOIL_LOG_WARNING, "mpi", "a warning"), TREFOIL_SUCCESS);
    EXPECT_EQ(trefoil_log(TREFOIL_LOG_REPORT, "mpi", "a table\nof two lines"), TREFOIL_SUCCESS);
    EXPECT_EQ(trefoil_log(TREFOIL_LOG_INFO, "mpi", "nobody asked"), TREFOIL_SUCCESS);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "trefoil: a warning\ntrefoil: a table\ntrefoil: of two lines\n");
}

TEST(OwnWords, MistakesAreRefused) {
    EXPECT_EQ(trefoil_log(TREFOIL_LOG_LAST, "mpi", "x"), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(trefoil_log(TREFOIL_LOG_INFO, nullptr, "x"), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(trefoil_log(TREFOIL_LOG_INFO, "mpi", nullptr), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(trefoil_log(TREFOIL_LOG_INFO, "weather", "x"), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("there are setup, choice"),
              std::string::npos);
}

}  // namespace
}  // namespace trefoil::test
