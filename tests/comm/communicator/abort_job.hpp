// SPDX-License-Identifier: BSD-3-Clause
// What tests of aborts share: ranks as threads, of which one ends the communicator of all.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sum_in_flight.hpp"

namespace trefoil::test {

using Clock = std::chrono::steady_clock;

/// Far below the time-out of 20 s, which would end the calls, too.
inline constexpr std::chrono::seconds soon{10};

struct Shape {
    const char* torus;
    int ranks;
    int port_threads;
};

inline auto all_shapes() {
    return testing::Values(Shape{"2x2", 4, -1}, Shape{"3x3", 9, -1}, Shape{"2x2", 4, 2});
}

inline std::string name_of(const testing::TestParamInfo<Shape>& info) {
    return std::string("On") + info.param.torus + (info.param.port_threads > 0 ? "Threads" : "");
}

/// Returns at the same time on all ranks, outside Trefoil.
class Gate {
  public:
    explicit Gate(int ranks) : ranks_(ranks) {}
    void pass() {
        const int mine = ++arrived_, all = (mine + ranks_ - 1) / ranks_ * ranks_;
        const auto deadline = Clock::now() + std::chrono::seconds(20);
        while (arrived_ < all && Clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

  private:
    int ranks_;
    std::atomic<int> arrived_{0};
};

class Abort : public testing::TestWithParam<Shape> {
  protected:
    int ranks() const { return GetParam().ranks; }
    /// body(rank, comm) on all ranks, and then the communicator has ended with this text.
    void run(const std::function<void(int, trefoil_comm_t)>& body, const std::string& expected) {
        run_ranks(ranks(), on(GetParam().torus, GetParam().port_threads),
                  [&](int rank, trefoil_comm_t comm) {
                      ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
                      body(rank, comm);
                      expect_end(comm, expected);
                  });
    }
    /// body(rank, comm) begins at the same time on all ranks, and all end with one text.
    void one_text(const std::function<void(int, trefoil_comm_t)>& body) {
        Gate gate(ranks());
        std::mutex mutex;
        std::set<std::string> texts;
        run_ranks(ranks(), on(GetParam().torus, GetParam().port_threads),
                  [&](int rank, trefoil_comm_t comm) {
                      ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
                      sum(comm, ranks());
                      gate.pass();
                      body(rank, comm);
                      EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
                      const std::lock_guard lock(mutex);
                      texts.insert(trefoil_last_error(comm));
                  });
        EXPECT_EQ(texts.size(), 1U) << *texts.begin() << "; " << *texts.rbegin();
    }
    static void expect_end(trefoil_comm_t comm, const std::string& expected) {
        int one = 1, sum = 0;
        const auto begun = Clock::now();
        EXPECT_EQ(trefoil_allreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(std::string(trefoil_last_error(nullptr)), expected);
        EXPECT_EQ(std::string(trefoil_last_error(comm)), expected);
        EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(trefoil_allreduce(&one, &sum, 0, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_ABORTED);
        trefoil_comm_t made = comm;
        EXPECT_EQ(trefoil_comm_dup(comm, &made), TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(made, nullptr);
        EXPECT_LT(Clock::now() - begun, soon);
    }
    static void sum(trefoil_comm_t comm, int ranks) {
        int one = 1, all = 0;
        EXPECT_EQ(trefoil_allreduce(&one, &all, 1, TREFOIL_INT32, TREFOIL_SUM, comm), ok)
            << trefoil_last_error(nullptr);
        EXPECT_EQ(all, ranks);
    }
};

}  // namespace trefoil::test
