// SPDX-License-Identifier: BSD-3-Clause
// A seeded attack on the reuse of landing slots: long random sequences of all collectives on one
// communicator, with ranks that stall at random, small landing slots and many segments.
#include <cstdlib>
#include <random>

#include "random_calls.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test {
namespace {

void stall_at_random(std::mt19937& own) {
    if (own() % 4 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(own() % 1500));
    }
}

void stress(const std::string& shape, int calls, int port_threads, unsigned seed) {
    const Torus torus = Torus::parse(shape);
    const std::vector<NamedAlgorithm> names = algorithms_for(torus);
    JobOptions options;
    options.torus = shape;
    options.port_threads = port_threads;
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::mt19937 shared(seed), own(seed * 31 + static_cast<unsigned>(rank));
        for (int call = 0; call < calls; ++call) {
            const CollectiveCase what = draw(shared, names, torus.ranks());
            stall_at_random(own);
            const std::string wrong = check_collective(comm, what);
            ASSERT_EQ(wrong, "") << describe(what) << ", call " << call << ", seed " << seed;
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
    stress("3x3", 200, -1, 1);
}
TEST_F(SmallLanding, RandomCallsOnARectangularTorus) {
    stress("2x3", 300, -1, 2);
}
TEST_F(SmallLanding, RandomCallsOnARing) {
    stress("5", 300, -1, 3);
}
TEST_F(SmallLanding, RandomCallsWithAThreadPerPort) {
    stress("2x2", 150, 4, 4);
}
TEST_F(SmallLanding, RandomCallsWithTwoThreads) {
    stress("5", 200, 2, 5);
}

TEST_F(SmallLanding, ManyRandomCallsLong) {
    for (unsigned seed = 10; seed < 14; ++seed) {
        for (const char* shape : {"3x3", "7", "2x2x2", "4x3", "8"}) {
            stress(shape, 1500, -1, seed);
        }
        stress("2x3", 1000, 3, seed);
        if (HasFatalFailure()) {
            return;
        }
    }
}

}  // namespace
}  // namespace trefoil::test
