// SPDX-License-Identifier: BSD-3-Clause
// Proves every algorithm of the table on the larger shapes.
#include "tests/algorithms/proof_shapes.hpp"
#include "tests/algorithms/table_proof.hpp"

namespace trefoil {
namespace {

TEST_P(TableProof, LargeRings) {
    prove(large_rings());
}

TEST_P(TableProof, LargeTori) {
    prove(large_tori());
}

INSTANTIATE_TEST_SUITE_P(Table, TableProof,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         algorithm_name);

}  // namespace
}  // namespace trefoil
