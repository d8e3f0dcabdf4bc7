// SPDX-License-Identifier: BSD-3-Clause
// alltoall along the rings of larger tori: proofs on all rings to 64, and the figures of the notes
// on tori of up to 4096 ranks.
#include <gtest/gtest.h>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"
#include "tests/algorithms/registry/proof_shapes.hpp"

namespace trefoil::rings_long_test {
namespace {

constexpr const char* names[] = {"sdx", "direct", "gather-scatter-tree", "t1",  "t4", "c1", "c8",
                                 "c27", "c64",    "partition",           "bine"};

const Algorithm& named(std::string_view name) {
    return find_algorithm(Collective::alltoall, name);
}

void prove(const std::string& shape) {
    const Torus torus = Torus::parse(shape);
    for (const char* const name : names) {
        for (const BuildOptions& options :
             {BuildOptions{}, BuildOptions{.rotation = Rotation::whole},
              BuildOptions{.single_port = true}, BuildOptions{.radix = 4},
              BuildOptions{.binary = true}}) {
            if (named(name).refusal(torus, options).empty()) {
                const Verification proof = verify(torus, named(name), options);
                ASSERT_TRUE(proof.ok()) << name << " on " << shape << ": " << proof.errors[0];
            }
        }
    }
}

TEST(AlltoallRingsLong, DeliverOnAllRings) {
    for (const std::string& shape : rings(2, 64)) {
        prove(shape);
    }
}

TEST(AlltoallRingsLong, DeliverOnLargeTori) {
    for (const char* const shape : {"8x8x8", "12x12x5", "16x16", "12x12", "9x6x3"}) {
        prove(shape);
    }
}

void expect_figures(const char* name, const char* shape, int steps, double block_times,
                    const BuildOptions& options = {}) {
    const CostSummary cost = summarize(Torus::parse(shape), named(name), options);
    EXPECT_EQ(cost.steps, steps) << name << " on " << shape;
    EXPECT_DOUBLE_EQ(cost.block_times, block_times) << name << " on " << shape;
}

TEST(AlltoallRingsLong, CostWhatIsKnown) {
    expect_figures("sdx", "8x8x8", 6, 512);
    expect_figures("sdx", "12x12x5", 9, 1080);
    expect_figures("t1", "32x32", 16, 10944);
    expect_figures("t4", "32x32", 14, 6784);
    expect_figures("gather-scatter-tree", "32x32", 16, 5408);
    expect_figures("sdx", "32x32", 8, 4096);
    expect_figures("c1", "16x16x16", 18, 34560);
    expect_figures("c8", "16x16x16", 15, 27648);
    expect_figures("c64", "16x16x16", 21, 30720);
    expect_figures("c64", "16x16x16", 18, 24576, {.binary = true});
    expect_figures("sdx", "16x16x16", 9, 8192);
}

}  // namespace
}  // namespace trefoil::rings_long_test
