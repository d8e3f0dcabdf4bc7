// SPDX-License-Identifier: BSD-3-Clause
// The groups of this process whose endpoints other groups here write into directly.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace trefoil::ofi {

// Provider shm lets threads of one process share the memory of an endpoint, and libfabric 1.17
// unmaps it when the endpoint closes, though a thread may just write there. So a group leaves its
// endpoints to the groups here that are connected to it, whichever of the two has connected, and
// the last of these to end closes them. Both functions are thread-safe, for set-up.

/// What others will leave, or have left, as a group keeps it until its own endpoints are closed.
class KeptEnds {
  public:
    void add(std::shared_ptr<void> remains) {
        const std::lock_guard lock(mutex_);
        kept_.push_back(std::move(remains));
    }

  private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<void>> kept_;
};

/// From now on the endpoint of this address is known here: by what its group will leave, and by
/// what that group keeps.
void add_end(const std::string& address, const std::shared_ptr<void>& remains,
             const std::shared_ptr<KeptEnds>& kept);
/// Two groups are about to be connected: each keeps what the other will leave. Does nothing where
/// the peer's address is that of another process. Throws Error(peer_lost) if it has ended.
void keep_each_other(const std::string& peer, const std::shared_ptr<void>& remains, KeptEnds& kept);

}  // namespace trefoil::ofi
