// SPDX-License-Identifier: BSD-3-Clause
// Whether the limits of this process bear so many ranks: asked before the first one starts.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <filesystem>
#include <optional>

#include "topo/torus.hpp"

namespace trefoil::tool {

/// Throws Error(unsupported) when a limit on processes does not, and names it.
void require_room_for(Rank ranks);

/// How many more processes the control groups of this process allow; nothing: any number. `groups`:
/// as /proc/self/cgroup; `mount`: where the groups are found.
std::optional<std::size_t> room_in_control_groups(
    const std::filesystem::path& groups = "/proc/self/cgroup",
    const std::filesystem::path& mount = "/sys/fs/cgroup");

/// Raises this process's own limit on descriptors, where so many ranks need more; puts it back at
/// the end. Throws Error(unsupported) when the hard limit does not allow it.
class RoomForDescriptors {
  public:
    explicit RoomForDescriptors(Rank ranks);
    ~RoomForDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
    RoomForDescriptors(const RoomForDescriptors&) = delete;
    RoomForDescriptors& operator=(const RoomForDescriptors&) = delete;
    /// For the ranks, which are started with it.
    const rlimit& before() const { return before_; }

  private:
    rlimit before_{};
};

}  // namespace trefoil::tool
