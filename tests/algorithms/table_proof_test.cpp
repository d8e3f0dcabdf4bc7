// SPDX-License-Identifier: BSD-3-Clause
// Proves every algorithm of the table on the small shapes, and its claim of identical results.
#include "tests/algorithms/table_proof.hpp"
#include "tests/algorithms/proof_shapes.hpp"

namespace trefoil {
namespace {

TEST_P(TableProof, SmallRings) {
    prove(rings(1, 32));
}

TEST_P(TableProof, SmallTori) {
    prove(small_tori());
}

TEST_P(TableProof, AlgorithmsWithoutIdenticalResultsDoDiffer) {
    if (GetParam().traits.identical_results) {
        GTEST_SKIP() << "claims identical results";
    }
    // With four ranks or more a window may be associated in more than one way.
    EXPECT_FALSE(verify(Torus::parse("9"), GetParam()).identical_results);
}

INSTANTIATE_TEST_SUITE_P(Table, TableProof,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         algorithm_name);

}  // namespace
}  // namespace trefoil
