// SPDX-License-Identifier: BSD-3-Clause
// The transports that CMake knows, generated from the list in backend/CMakeLists.txt.
#pragma once

#include <deque>

#include "backend/ports/transport.hpp"

namespace trefoil {

/// In the order of that list.
std::deque<Transport> built_in_transports();

}  // namespace trefoil
