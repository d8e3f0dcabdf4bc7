// SPDX-License-Identifier: BSD-3-Clause
// What must be set or tidied outside libfabric for its providers to behave well.
#pragma once

#include <string_view>

namespace trefoil::ofi {

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
