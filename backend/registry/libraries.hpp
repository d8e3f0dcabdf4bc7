// SPDX-License-Identifier: BSD-3-Clause
// The network and launcher libraries that this build uses, with the versions that are loaded.
#pragma once

#include <vector>

#include "backend/ports/transport.hpp"

namespace trefoil {

/// Those of the transports, then PMIx; those that are absent say why. Thread-safe.
std::vector<LibraryInfo> libraries();

}  // namespace trefoil
