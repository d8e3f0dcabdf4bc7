// SPDX-License-Identifier: BSD-3-Clause
// Whether a file in shared memory is one that somebody left behind.
#pragma once

namespace trefoil {

/// Whether no process of this host has the file open or mapped, in whatever container it runs.
/// False also where it cannot be found out. `folder`: a descriptor of its folder.
bool is_unused(int folder, const char* name) noexcept;

}  // namespace trefoil
