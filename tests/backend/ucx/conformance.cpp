// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over UCX, with ranks as threads and as forked processes. UCX_TLS decides
// what is tested: ctest runs this with each transport that every machine has.
#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

INSTANTIATE_TEST_SUITE_P(Ucx, Conformance, threads_and_processes("ucx"), test_name);

}  // namespace trefoil::conformance
