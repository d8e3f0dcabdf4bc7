// SPDX-License-Identifier: BSD-3-Clause
// The libfabric providers that are put through the conformance suite.
#pragma once

#include <string>
#include <vector>

#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

/// The providers that test machines should have, with ranks as threads and as processes. Whether
/// libfabric offers one here is found out before its first test, since that may take seconds, in a
/// child process: a process that has used libfabric should not fork ranks.
std::vector<Subject> providers_to_test();

/// Those that it does not offer; a test reports them as skipped.
std::vector<std::string> missing_providers();

}  // namespace trefoil::conformance
