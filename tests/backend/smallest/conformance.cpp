// SPDX-License-Identifier: BSD-3-Clause
// The smallest transport keeps the contract.
#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

INSTANTIATE_TEST_SUITE_P(
    Smallest, Conformance,
    testing::Values(Subject{
        .name = "smallest_threads", .backend = "smallest", .provider = "", .registers = false}),
    test_name);

}  // namespace trefoil::conformance
