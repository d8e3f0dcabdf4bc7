// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads of one process, meeting through a callback: what the tests of comm/ run on.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trefoil/trefoil.h"

namespace trefoil::test {

/// What filters call a test of a torus: .../2x3.
inline std::string name_of_shape(const testing::TestParamInfo<const char*>& info) {
    return info.param;
}

/// "": the communicator has not failed.
inline std::string reason_of_failure(trefoil_comm_t comm) {
    const char* text = "";
    EXPECT_EQ(trefoil_comm_failure(comm, &text), TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    return text;
}

/// An allgather among threads; every wait is bounded.
class ThreadAllgather {
  public:
    explicit ThreadAllgather(int ranks) : ranks_(ranks) {}

    struct Member {
        ThreadAllgather* of;
        int rank;
    };
    static int allgather(const void* mine, void* all, size_t bytes, void* context) {
        const auto* member = static_cast<Member*>(context);
        return member->of->take_part(member->rank, mine, all, bytes);
    }

  private:
    int take_part(int rank, const void* mine, void* all, size_t bytes) {
        std::unique_lock lock(mutex_);
        const auto patience = std::chrono::seconds(20);
        if (!changed_.wait_for(lock, patience, [&] { return leaving_ == 0; })) {
            return 1;
        }
        board_.resize(ranks_ * bytes);
        std::memcpy(board_.data() + rank * bytes, mine, bytes);
        const auto round = round_;
        if (++arrived_ == ranks_) {
            arrived_ = 0;
            leaving_ = ranks_;
            ++round_;
            changed_.notify_all();
        } else if (!changed_.wait_for(lock, patience, [&] { return round_ != round; })) {
            return 1;
        }
        std::memcpy(all, board_.data(), ranks_ * bytes);
        if (--leaving_ == 0) {
            changed_.notify_all();
        }
        return 0;
    }

    int ranks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<char> board_;
    int arrived_ = 0, leaving_ = 0;
    long round_ = 0;
};

/// Any backend that is registered, so that a test can be run over several; by default "memory".
inline std::string backend_under_test() {
    const char* const name = std::getenv("BACKEND_UNDER_TEST");
    return name == nullptr ? "memory" : name;
}

/// How a job is configured; fields as in trefoil_config_t.
struct JobOptions {
    std::string torus;
    std::string backend = backend_under_test();
    std::string provider;
    std::string algorithm = "auto";
    int port_threads = -1;
    double timeout_seconds = 20;
};

/// Runs body(rank, comm) on `ranks` threads, each with a communicator of its own. The communicators
/// are destroyed after all bodies have returned. `configure` may change one rank's configuration; a
/// failed creation gives the body a null communicator.
inline void run_ranks(int ranks, const JobOptions& options,
                      const std::function<void(int, trefoil_comm_t)>& body,
                      const std::function<void(int, trefoil_config_t&)>& configure = {}) {
    ThreadAllgather allgather(ranks);
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r) {
        threads.emplace_back([&, r] {
            ThreadAllgather::Member member{&allgather, r};
            trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
            config.rank = r;
            config.ranks = ranks;
            config.allgather = &ThreadAllgather::allgather;
            config.context = &member;
            config.torus = options.torus.c_str();
            config.backend = options.backend.c_str();
            config.provider = options.provider.empty() ? nullptr : options.provider.c_str();
            config.algorithm = options.algorithm.c_str();
            config.port_threads = options.port_threads;
            config.timeout_seconds = options.timeout_seconds;
            if (configure) {
                configure(r, config);
            }
            trefoil_comm_t comm = nullptr;
            const trefoil_status_t created = trefoil_comm_create(&config, &comm);
            EXPECT_EQ(created == TREFOIL_SUCCESS, comm != nullptr);
            body(r, comm);
            char token = 0;
            std::vector<char> all(ranks);
            EXPECT_EQ(0, ThreadAllgather::allgather(&token, all.data(), 1, &member));
            EXPECT_EQ(trefoil_comm_destroy(comm), TREFOIL_SUCCESS);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace trefoil::test
