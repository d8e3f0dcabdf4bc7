// SPDX-License-Identifier: BSD-3-Clause
// Whether the kernel lets processes of this user read each other's memory.
#pragma once

#include <string>

namespace trefoil {

/// What process_vm_readv says when another process reads this one, and the setting of the kernel
/// that may be the cause; empty: it may read. A child asks, which has no more rights here than a
/// stranger of the same user.
std::string why_no_kernel_access();

}  // namespace trefoil
