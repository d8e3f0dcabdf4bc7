// SPDX-License-Identifier: BSD-3-Clause
// The transport over uTofu, the one-sided interface of Fugaku and its relatives.
#pragma once

#include "backend/ports/transport.hpp"

namespace trefoil {

/// Reads two settings of its own: TREFOIL_UTOFU_NOTICES, how many places the queue of notices of a
/// network interface has, and TREFOIL_UTOFU_THREAD_SAFE, whether port groups may share interfaces.
Transport utofu_transport();

}  // namespace trefoil
