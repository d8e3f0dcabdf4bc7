// SPDX-License-Identifier: BSD-3-Clause
// Backend "ucx": ports over UCX workers; stores into shared memory where UCX can map a peer's
// memory, active messages that carry the payload everywhere else.
//
// What it needs of UCX (a context and a worker per device and group):
//
//  - UCP_FEATURE_AM: active messages whose payload comes at once or by rendezvous;
//  - UCP_FEATURE_RMA: memory that UCX allocates and maps, and ucp_rkey_ptr, which tells whether a
//    peer's memory is mapped here, too;
//  - UCP_FEATURE_WAKEUP: a file that tells of arrivals;
//  - UCS_THREAD_MODE_SERIALIZED: one thread at a time, though not always the same one.
//
// What it does not need: order between messages, remote writes over the network (a put with a
// notification would be several messages), tags, atomics, flushes.
#pragma once

#include "backend/ports/transport.hpp"

namespace trefoil {

/// A provider is a list of UCX transports, as in UCX_TLS, which it overrides.
Transport ucx_transport();

}  // namespace trefoil
