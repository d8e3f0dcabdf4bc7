// SPDX-License-Identifier: BSD-3-Clause
// What must be set or tidied outside libfabric for its providers to behave well.
#pragma once

#include <string_view>

#include "topo/torus.hpp"

namespace trefoil::ofi {

/// How large rxm makes a port's queue: as many messages to and from each of so many peers. It takes
/// 256 peers by itself, and the 65,536 entries for these are more than some devices have (32,767 in
/// Soft-RoCE). Fewer messages to a peer wait for each other; more entries than a device has mean no
/// port at all. Never fewer peers than fit beside most messages: a process sets libfabric up once,
/// and may make a larger communicator later.
struct RxmSizes {
    static constexpr int fewest_peers = 127, most_messages = 128, fewest_messages = 16;
    static constexpr int safe_entries = 32'767;

    int peers = fewest_peers;
    int messages = most_messages;  ///< in each direction; rxm takes powers of two

    long entries() const { return 2L * messages * peers; }
};
RxmSizes rxm_sizes(int peers);

/// What prepare_environment() is to make room for. Before that, or it comes too late.
void expect_peers(Rank peers) noexcept;

/// Sets defaults (never what the user has set) for libfabric's own variables. Must come before the
/// first look at a provider; does its work once per process. Thread-safe against itself.
void prepare_environment();

/// Removes shared-memory regions that the shm provider of this user's dead processes left behind:
/// it leaks them whenever a process ends without closing its endpoints. What any process of this
/// host still has open or mapped stays: containers may share the folder without seeing each other's
/// processes.
void remove_stale_regions() noexcept;
/// The same of one process, which has ended, though its parent may not have noticed.
void remove_regions_of(int process) noexcept;
/// The same of one endpoint, whose address is given as libfabric does. One whose process is stopped
/// goes even if it is mapped: it may end before it can tidy up. For a peer that nobody will connect
/// to again.
void remove_region_at(std::string_view address) noexcept;

}  // namespace trefoil::ofi
