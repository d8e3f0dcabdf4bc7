// SPDX-License-Identifier: BSD-3-Clause
// Trivance on large rings and tori.
#include <gtest/gtest.h>

#include "tests/algorithms/trivance/testing.hpp"

namespace trefoil {
namespace {

using namespace testing_trivance;

const std::vector<std::string> large_rings{"81", "100", "127", "128", "243", "256"};

TEST(TrivanceLong, LatencyOnRings) {
    prove_steps(trivance<build_trivance_l>(), rings(41, 64), false, 1);
    prove_steps(trivance<build_trivance_l>(), large_rings, false, 1);
}

TEST(TrivanceLong, BandwidthOnRings) {
    prove_steps(trivance<build_trivance_b>(), rings(41, 64), true, 2);
    prove_steps(trivance<build_trivance_b>(), large_rings, true, 2);
}

TEST(TrivanceLong, GatherOnRings) {
    prove_steps(trivance<build_trivance_g>(), rings(41, 64), true, 1);
}

TEST(TrivanceLong, Tori) {
    const std::vector<std::string> shapes{"9x9", "10x10", "4x4x4", "7x11", "5x5x5", "2x16"};
    prove_steps(trivance<build_trivance_l>(), shapes, false, 1);
    prove_steps(trivance<build_trivance_b>(), shapes, true, 2);
    prove_steps(trivance<build_trivance_g>(), shapes, true, 1);
}

TEST(TrivanceLong, FiguresOfLargeTori) {
    const auto load = [](const Algorithm& algorithm, const char* shape) {
        return summarize(Torus::parse(shape), algorithm).sum_link_load;
    };
    EXPECT_NEAR(2 * load(trivance<build_trivance_b>(), "81x81"), 1.317, 0.0005);
    EXPECT_NEAR(3 * load(trivance<build_trivance_b>(), "27x27x27"), 1.082, 0.0005);
    EXPECT_LE(2 * load(trivance<build_trivance_b>(), "64x64"), 1.356);
    EXPECT_LE(3 * load(trivance<build_trivance_b>(), "16x16x16"), 1.103);
    EXPECT_DOUBLE_EQ(load(trivance<build_trivance_l>(), "64x64"), 33);
}

}  // namespace
}  // namespace trefoil
