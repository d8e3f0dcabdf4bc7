// SPDX-License-Identifier: BSD-3-Clause
// Proves every algorithm of the table on the larger shapes.
#include "algorithms/registry/registry.hpp"
#include "tests/algorithms/registry/proof.hpp"
#include "tests/algorithms/registry/proof_shapes.hpp"

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
