// SPDX-License-Identifier: BSD-3-Clause
// Whether this process has room to map memory of a peer.
#pragma once

#include <cstddef>

namespace trefoil {

/// Throws Error, which says what to raise, unless this process can open a file
/// (Status::system_error) and map `bytes` (Status::out_of_memory). For libraries that crash where
/// they cannot. Nothing is kept. Thread-safe.
void require_room_to_map(std::size_t bytes);

}  // namespace trefoil
