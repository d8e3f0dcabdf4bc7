// SPDX-License-Identifier: BSD-3-Clause
// Any collective through the nonblocking and the persistent functions of the C interface.
#pragma once

#include "bench/perf/call.hpp"

namespace trefoil::test {

/// trefoil_iallreduce and its like.
trefoil_status_t begin_collective(trefoil_comm_t comm, const tool::CollectiveCall& call,
                                  trefoil_request_t* request);
/// trefoil_allreduce_init and its like.
trefoil_status_t prepare_collective(trefoil_comm_t comm, const tool::CollectiveCall& call,
                                    trefoil_request_t* request);

}  // namespace trefoil::test
