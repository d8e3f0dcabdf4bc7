// SPDX-License-Identifier: BSD-3-Clause
// Proves every algorithm of the table on the small shapes, and its claim of identical results.
#include "tests/algorithms/registry/proof.hpp"
#include "algorithms/registry/registry.hpp"
#include "tests/algorithms/registry/proof_shapes.hpp"

namespace trefoil {
namespace {

TEST_P(TableProof, SmallRings) {
    prove(rings(1, 32));
}

TEST_P(TableProof, SmallTori) {
    prove(small_tori());
}

// A claim that is missing without need would keep an algorithm from being chosen.
TEST_P(TableProof, OnlyAlgorithmsThatDifferSomewhereForgoIdenticalResults) {
    bool identical = true;
    for (const std::string& shape : rings(1, 16)) {
        const Torus torus = Torus::parse(shape);
        identical = identical && (!GetParam().refusal(torus).empty() ||
                                  verify(torus, GetParam()).identical_results);
    }
    EXPECT_EQ(identical, GetParam().traits.identical_results);
}

INSTANTIATE_TEST_SUITE_P(Table, TableProof,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         algorithm_name);

}  // namespace
}  // namespace trefoil
