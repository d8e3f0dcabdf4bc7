// SPDX-License-Identifier: BSD-3-Clause
// A seeded attack on the reuse of landing slots: long random sequences of allreduces and barriers
// on one communicator, with ranks that stall at random, small landing slots and many segments.
#include <cstdlib>
#include <random>

#include "algorithms/algorithm.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test {
namespace {

/// What all ranks do in one call; drawn from a generator that all ranks seed alike.
struct Draw {
    std::size_t algorithm;
    std::size_t count;
    bool barrier;
};

Draw draw(std::mt19937& shared, std::size_t algorithms) {
    const std::size_t magnitude = std::size_t{1} << shared() % 16;
    return {shared() % algorithms, shared() % (4 * magnitude), shared() % 8 == 0};
}

std::vector<std::string> names_for(const Torus& torus) {
    std::vector<std::string> names{"auto"};
    for (const Algorithm& a : algorithms()) {
        if (a.collective == Collective::allreduce && a.refusal(torus).empty()) {
            names.emplace_back(a.name);
        }
    }
    return names;
}

void stall_at_random(std::mt19937& own) {
    if (own() % 4 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(own() % 1500));
    }
}

void stress(const std::string& shape, int calls, int port_threads, unsigned seed) {
    const Torus torus = Torus::parse(shape);
    const std::vector<std::string> names = names_for(torus);
    JobOptions options;
    options.torus = shape;
    options.port_threads = port_threads;
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::mt19937 shared(seed), own(seed * 31 + static_cast<unsigned>(rank));
        for (int call = 0; call < calls; ++call) {
            const Draw next = draw(shared, names.size());
            stall_at_random(own);
            if (next.barrier) {
                ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS) << trefoil_last_error(comm);
                continue;
            }
            const std::string& name = names[next.algorithm];
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", name.c_str()), TREFOIL_SUCCESS);
            std::vector<std::int64_t> data(next.count);
            const auto value = [&](int r, std::size_t i) {
                return static_cast<std::int64_t>(i * 131 + static_cast<std::size_t>(call)) *
                       (r + 1);
            };
            for (std::size_t i = 0; i < next.count; ++i) {
                data[i] = value(rank, i);
            }
            ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), next.count, TREFOIL_INT64,
                                        TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            const std::int64_t ranks_sum = torus.ranks() * (torus.ranks() + 1) / 2;
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < next.count; ++i) {
                wrong += data[i] == value(0, i) * ranks_sum ? 0 : 1;
            }
            ASSERT_EQ(wrong, 0U) << name << ", call " << call << ", count " << next.count;
        }
    });
}

class SmallLanding : public testing::Test {
  protected:
    void SetUp() override {
        setenv("TREFOIL_LANDING_BYTES", "64K", 1);
        setenv("TREFOIL_SEGMENT_BYTES", "8K", 1);
    }
    void TearDown() override {
        unsetenv("TREFOIL_LANDING_BYTES");
        unsetenv("TREFOIL_SEGMENT_BYTES");
    }
};

TEST_F(SmallLanding, RandomCallsOnASquareTorus) {
    stress("3x3", 120, -1, 1);
}
TEST_F(SmallLanding, RandomCallsOnARectangularTorus) {
    stress("2x3", 200, -1, 2);
}
TEST_F(SmallLanding, RandomCallsOnARing) {
    stress("5", 200, -1, 3);
}
TEST_F(SmallLanding, RandomCallsWithAThreadPerPort) {
    stress("2x2", 150, 4, 4);
}
TEST_F(SmallLanding, RandomCallsWithTwoThreads) {
    stress("5", 150, 2, 5);
}

TEST_F(SmallLanding, ManyRandomCallsLong) {
    for (unsigned seed = 10; seed < 14; ++seed) {
        for (const char* shape : {"3x3", "7", "2x2x2", "4x3", "8"}) {
            stress(shape, 300, -1, seed);
        }
        stress("2x3", 300, 3, seed);
        if (HasFatalFailure()) {
            return;
        }
    }
}

}  // namespace
}  // namespace trefoil::test
