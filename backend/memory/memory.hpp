// SPDX-License-Identifier: BSD-3-Clause
// Backend "memory": ranks as threads of one process, or as processes of one host. A put is a copy
// by the sender; the target need not do anything.
#pragma once

#include "backend/ports/transport.hpp"

namespace trefoil {

/// It has no provider and no NIC to choose. Whether a peer is a thread or a process is found out
/// per peer.
Transport memory_transport();

}  // namespace trefoil
