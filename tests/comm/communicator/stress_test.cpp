// SPDX-License-Identifier: BSD-3-Clause
// A seeded attack on the reuse of landing slots: long random sequences of all collectives on one
// communicator, with ranks that stall at random, small landing slots and many segments.
#include <cstdlib>
#include <random>

#include "algorithms/registry/registry.hpp"
#include "collective_check.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test {
namespace {

struct Named {
    Collective collective;
    std::string algorithm;
    bool any_sizes = false;  ///< of alltoall's blocks
};

std::vector<Named> algorithms_for(const Torus& torus) {
    std::vector<Named> names;
    for (const Algorithm& a : algorithms()) {
        if (a.refusal(torus).empty()) {
            names.push_back({a.collective, std::string(a.name), a.traits.vector_variant});
        }
    }
    return names;
}

/// What all ranks do in one call; drawn from a generator that all ranks seed alike.
CollectiveCase draw(std::mt19937& shared, const std::vector<Named>& names, int ranks) {
    CollectiveCase what;
    const Named& named = names[shared() % names.size()];
    what.collective = named.collective;
    what.algorithm = shared() % 4 == 0 ? "auto" : named.algorithm;
    what.root = traits_of(what.collective).rooted() ? static_cast<int>(shared()) % ranks : 0;
    what.root = what.root < 0 ? -what.root : what.root;
    const std::size_t magnitude = std::size_t{1} << shared() % 16;
    what.count = shared() % (4 * magnitude);
    what.in_place = shared() % 2 == 0;
    what.salt = static_cast<std::int64_t>(shared() % 1000);
    const CollectiveTraits& row = traits_of(what.collective);
    if (row.has_blocks()) {
        what.count /= static_cast<std::size_t>(ranks);
    }
    if (row.blocks_have_owners() || named.any_sizes) {
        for (int r = 0; shared() % 3 == 0 && r < ranks; ++r) {
            what.counts.push_back(shared() % (what.count + 1));
        }
        what.counts.resize(what.counts.empty() ? 0 : static_cast<std::size_t>(ranks), 1);
    }
    return what;
}

void stall_at_random(std::mt19937& own) {
    if (own() % 4 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(own() % 1500));
    }
}

void stress(const std::string& shape, int calls, int port_threads, unsigned seed) {
    const Torus torus = Torus::parse(shape);
    const std::vector<Named> names = algorithms_for(torus);
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
    stress("3x3", 400, -1, 1);
}
TEST_F(SmallLanding, RandomCallsOnARectangularTorus) {
    stress("2x3", 600, -1, 2);
}
TEST_F(SmallLanding, RandomCallsOnARing) {
    stress("5", 600, -1, 3);
}
TEST_F(SmallLanding, RandomCallsWithAThreadPerPort) {
    stress("2x2", 300, 4, 4);
}
TEST_F(SmallLanding, RandomCallsWithTwoThreads) {
    stress("5", 400, 2, 5);
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
