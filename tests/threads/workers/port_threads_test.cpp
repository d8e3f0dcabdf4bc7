// SPDX-License-Identifier: BSD-3-Clause
// Port threads: every worker runs once per run, what it wrote is seen, and pins stay in the mask.
#include "threads/workers/port_threads.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <thread>

#include "tests/threads/workers/allocations.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"

namespace {

using trefoil::allowed_cores;
using trefoil::PortThreads;

class PortThreadsOf : public testing::TestWithParam<int> {};

// Plain integers on purpose: the thread sanitizer sees whether run() orders them.
TEST_P(PortThreadsOf, runs_every_worker_once_per_run) {
    PortThreads port_threads(GetParam(), {});
    ASSERT_EQ(port_threads.workers(), std::max(1, GetParam()));
    std::vector<int> calls(static_cast<std::size_t>(port_threads.workers()), 0);
    int expected = 0;
    auto work = [&](int worker) { ++calls[static_cast<std::size_t>(worker)]; };
    for (int run = 0; run < 2000; ++run) {
        ASSERT_TRUE(port_threads.run(work));
        ++expected;
        for (const int count : calls) {
            ASSERT_EQ(count, expected);
        }
    }
}

TEST_P(PortThreadsOf, workers_see_what_the_caller_wrote) {
    PortThreads port_threads(GetParam(), {});
    std::vector<int> seen(static_cast<std::size_t>(port_threads.workers()), -1);
    for (int value = 0; value < 200; ++value) {
        auto work = [&seen, value](int worker) { seen[static_cast<std::size_t>(worker)] = value; };
        ASSERT_TRUE(port_threads.run(work));
        for (const int worker_saw : seen) {
            ASSERT_EQ(worker_saw, value);
        }
    }
}

TEST_P(PortThreadsOf, runs_do_not_allocate) {
    PortThreads port_threads(GetParam(), {});
    std::vector<int> before(static_cast<std::size_t>(port_threads.workers()));
    auto remember = [&](int worker) {
        before[static_cast<std::size_t>(worker)] = allocations_of_this_thread();
    };
    ASSERT_TRUE(port_threads.run(remember));
    const int caller_before = allocations_of_this_thread();
    auto nothing = [](int) {};
    for (int run = 0; run < 100; ++run) {
        ASSERT_TRUE(port_threads.run(nothing));
    }
    EXPECT_EQ(allocations_of_this_thread(), caller_before);
    auto compare = [&](int worker) {
        before[static_cast<std::size_t>(worker)] -= allocations_of_this_thread();
    };
    ASSERT_TRUE(port_threads.run(compare));
    EXPECT_GT(allocations_of_this_thread(), 0) << "the counter does not count";
    for (const int difference : before) {
        EXPECT_EQ(difference, 0);
    }
}

TEST_P(PortThreadsOf, can_be_destroyed_without_a_run) {
    const PortThreads port_threads(GetParam(), {});
    EXPECT_EQ(port_threads.workers(), std::max(1, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Threads, PortThreadsOf, testing::Values(0, 1, 3),
                         testing::PrintToStringParamName());

TEST(PortThreads, without_threads_works_on_the_caller) {
    PortThreads port_threads(0, {});
    std::thread::id worker;
    auto work = [&](int) { worker = std::this_thread::get_id(); };
    ASSERT_TRUE(port_threads.run(work));
    EXPECT_EQ(worker, std::this_thread::get_id());
}

TEST(PortThreads, pins_its_threads_and_leaves_the_caller_alone) {
    const std::vector<int> mask = allowed_cores();
    PortThreads port_threads(3, mask);
    std::vector<std::vector<int>> masks(3);
    auto work = [&](int worker) { masks[static_cast<std::size_t>(worker)] = allowed_cores(); };
    ASSERT_TRUE(port_threads.run(work));
    for (std::size_t worker = 0; worker < masks.size(); ++worker) {
        EXPECT_EQ(masks[worker], std::vector<int>{mask[worker % mask.size()]});
    }
    EXPECT_EQ(allowed_cores(), mask);
}

TEST(PortThreads, refuses_a_core_outside_the_mask) {
    const int outside = allowed_cores().back() + 1;
    try {
        const PortThreads port_threads(1, {outside});
        FAIL() << "core " << outside << " was accepted";
    } catch (const trefoil::Error& error) {
        EXPECT_EQ(error.status(), trefoil::Status::invalid_argument);
        EXPECT_NE(std::string(error.what()).find(std::to_string(outside)), std::string::npos);
    }
}

// This program is not linked with an OpenMP runtime.
TEST(PortThreads, of_openmp_threads_needs_a_runtime) {
    try {
        trefoil::openmp_threads(2);
        FAIL() << "found an OpenMP runtime";
    } catch (const trefoil::Error& error) {
        EXPECT_EQ(error.status(), trefoil::Status::unsupported);
        EXPECT_NE(std::string(error.what()).find("-fopenmp"), std::string::npos);
    }
    EXPECT_THROW(PortThreads::openmp(2), trefoil::Error);
}

TEST(PortThreads, refuses_a_negative_size) {
    EXPECT_THROW(PortThreads(-1, {}), trefoil::Error);
}

}  // namespace
