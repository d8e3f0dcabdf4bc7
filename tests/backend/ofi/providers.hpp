// SPDX-License-Identifier: BSD-3-Clause
// The libfabric providers that are put through the conformance suite.
#pragma once

#include <string>
#include <vector>

#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

/// Those of the providers that every test machine should have which libfabric offers here, with
/// ranks as threads and as processes. Found out in a child process: a process that has used
/// libfabric should not fork ranks.
std::vector<Subject> offered_transports();

/// Those that it does not offer; a test reports them as skipped.
std::vector<std::string> missing_providers();

}  // namespace trefoil::conformance
