// SPDX-License-Identifier: BSD-3-Clause
// The groups of this process whose endpoints other groups here write into directly.
#pragma once

#include <memory>
#include <string>

namespace trefoil::ofi {

// Provider shm lets threads of one process share the memory of an endpoint, and libfabric 1.17
// unmaps it when the endpoint closes, though a thread may just write there. So a group leaves its
// endpoints to the groups that know it, and the last of these closes them. Both functions are
// thread-safe, for set-up.

/// From now on the endpoint of this address is known here by what it will leave.
void add_end(const std::string& address, const std::shared_ptr<void>& remains);
/// Null: it is no endpoint of this process, or nobody has it any more.
std::shared_ptr<void> end_at(const std::string& address);

}  // namespace trefoil::ofi
