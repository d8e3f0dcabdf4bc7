// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over libfabric, with ranks as forked processes.
#include "tests/backend/ofi/providers.hpp"

namespace trefoil::conformance {

INSTANTIATE_TEST_SUITE_P(Ofi, Conformance, testing::ValuesIn(offered_transports(true)), test_name);

}  // namespace trefoil::conformance
