// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over the emulated uTofu, with ranks as threads.
#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

INSTANTIATE_TEST_SUITE_P(UtofuThreads, Conformance, as_threads("utofu"), test_name);

}  // namespace trefoil::conformance
