// SPDX-License-Identifier: BSD-3-Clause
// The buffers of the calls that are pending: a new call must not use them in another way.
#pragma once

#include <vector>

#include "comm/communicator/pending_call.hpp"

namespace trefoil {

/// By the thread that issues calls; other threads end them meanwhile (PendingCall::holds). A call
/// holds its buffers until its request has been waited for, or tested with success; so all ranks
/// find the same mistake, however far the call has come on each of them. Those whose request was
/// freed hold them until they are over.
class BuffersInFlight {
  public:
    bool empty() const noexcept { return calls_.empty(); }
    /// Throws Error(invalid_argument) where a new call with these buffers would write what a
    /// pending one uses, or use what a pending one writes. Time grows with the pending calls.
    void require_free(const UsedBytes& mine);
    /// The call was issued. Before that there is room: reserve().
    void add(PendingCall& call) noexcept;
    /// For one more call. May throw bad_alloc.
    void reserve();

  private:
    void forget_those_ended() noexcept;

    std::vector<PendingCall*> calls_;
};

}  // namespace trefoil
