// SPDX-License-Identifier: BSD-3-Clause
// What UCX leaves in /dev/shm for a process that was killed.
#pragma once

namespace trefoil::ucx {

/// Removes this user's segments that no process uses. UCX unlinks a segment soon after it was made,
/// so only a process that was killed meanwhile leaves one; its name does not say whose it is.
void remove_unused_segments() noexcept;

}  // namespace trefoil::ucx
