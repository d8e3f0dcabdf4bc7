// SPDX-License-Identifier: BSD-3-Clause
// Proves every algorithm of the table, which proof_test.cpp takes, on the larger shapes.
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

}  // namespace
}  // namespace trefoil
