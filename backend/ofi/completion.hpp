// SPDX-License-Identifier: BSD-3-Clause
// What the flags of a completion say.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#include <cstdint>

namespace trefoil::ofi {

/// Whether a put of another process has arrived, rather than one of ours has left. Most providers
/// say FI_REMOTE_WRITE. Of shm, libfabric 2.1 says FI_REMOTE_CQ_DATA alone; some providers set this
/// flag at the initiator, too, but with FI_WRITE.
constexpr bool is_arrival(std::uint64_t flags) {
    return (flags & FI_REMOTE_WRITE) != 0 ||
           (flags & (FI_REMOTE_CQ_DATA | FI_WRITE)) == FI_REMOTE_CQ_DATA;
}

}  // namespace trefoil::ofi
