// SPDX-License-Identifier: BSD-3-Clause
// Random mixes of calls in flight, over small landing slots, with ranks that stall.
#include <cstdlib>

#include "derived_job.hpp"
#include "mixed_calls.hpp"
#include "topo/torus.hpp"

namespace trefoil::test {
namespace {

/// On the whole torus alone.
void mix_on(const std::string& shape, int port_threads, const Mix& mix) {
    JobOptions options;
    options.torus = shape;
    options.port_threads = port_threads;
    run_ranks(Torus::parse(shape).ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        const Mixed mixed = run_mixed_calls({comm}, mix);
        EXPECT_EQ(mixed.wrong, "") << "on rank " << rank;
        EXPECT_EQ(mixed.calls, mix.calls);
        EXPECT_LE(mixed.most, mix.in_flight);
        EXPECT_GT(mixed.most, mix.in_flight / 2);
    });
}

/// On the whole and on parts_of() it.
void mix_on_all(const std::string& shape, int port_threads, const Mix& mix) {
    run_on(
        shape,
        [&](int rank, trefoil_comm_t comm) {
            const std::vector<Made> made = parts_of(comm);
            std::vector<trefoil_comm_t> comms{comm};
            comms.insert(comms.end(), made.begin(), made.end());
            const Mixed mixed = run_mixed_calls(comms, mix);
            EXPECT_EQ(mixed.wrong, "") << "on rank " << rank;
            EXPECT_EQ(mixed.calls, mix.calls);
            EXPECT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        },
        port_threads);
}

class MixedCalls : public testing::Test {
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

TEST_F(MixedCalls, OnASquareTorus) {
    mix_on("3x3", -1, {.calls = 150, .seed = 1});
}
TEST_F(MixedCalls, OnACube) {
    mix_on("2x2x2", -1, {.calls = 150, .seed = 2});
}
TEST_F(MixedCalls, WithAThreadPerPort) {
    mix_on("2x2", 4, {.calls = 150, .seed = 3});
}
TEST_F(MixedCalls, WithTwoThreadsOnARing) {
    mix_on("5", 2, {.calls = 150, .seed = 4});
}
TEST_F(MixedCalls, TinyOnesOfAllKinds) {
    mix_on("2x3", -1, {.calls = 750, .seed = 5, .most_log = 3, .stalls = false});
}

TEST_F(MixedCalls, OnRowsColumnsAndDuplicates) {
    mix_on_all("3x3", -1, {.calls = 150, .seed = 6});
}
TEST_F(MixedCalls, OnPlanesOfACube) {
    mix_on_all("2x2x2", -1, {.calls = 150, .seed = 7});
}
TEST_F(MixedCalls, OnRowsWithPortThreads) {
    mix_on_all("2x2", 2, {.calls = 150, .seed = 8});
}

TEST_F(MixedCalls, ManyOnManyLong) {
    for (unsigned seed = 20; seed < 24 && !HasFailure(); ++seed) {
        mix_on_all("3x3", -1, {.calls = 5000, .seed = seed});
        mix_on_all("2x2x2", -1, {.calls = 5000, .seed = seed});
        mix_on_all("3x3", 2, {.calls = 1000, .seed = seed});
    }
}
TEST_F(MixedCalls, ManyLong) {
    for (unsigned seed = 10; seed < 14 && !HasFailure(); ++seed) {
        mix_on("3x3", -1, {.calls = 5000, .seed = seed});
        mix_on("2x2x2", -1, {.calls = 5000, .seed = seed});
        mix_on("3x3", 2, {.calls = 1000, .seed = seed});
        mix_on("7", -1, {.calls = 750, .seed = seed, .most_log = 4});
    }
}

}  // namespace
}  // namespace trefoil::test
