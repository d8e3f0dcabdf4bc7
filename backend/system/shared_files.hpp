// SPDX-License-Identifier: BSD-3-Clause
// Files in shared memory that somebody left behind.
#pragma once

#include <functional>

namespace trefoil {

/// Whether no process of this host has the file open or mapped, in whatever container it runs.
/// False also where it cannot be found out. `folder`: a descriptor of its folder.
bool is_unused(int folder, const char* name) noexcept;

/// Removes those files of this user in /dev/shm for which `left_behind` is true. It must not throw.
void remove_shared_files(
    const std::function<bool(int folder, const char* name)>& left_behind) noexcept;

}  // namespace trefoil
