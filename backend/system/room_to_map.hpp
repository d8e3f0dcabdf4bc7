// SPDX-License-Identifier: BSD-3-Clause
// Whether this process has room for what libraries do that crash where it has none.
#pragma once

#include <cstddef>
#include <string>

namespace trefoil {

/// Throws Error, which says what to raise, unless this process can open a file
/// (Status::system_error) and map `bytes` (Status::out_of_memory). Nothing is kept. Thread-safe.
void require_room_to_map(std::size_t bytes);

/// Throws Error(system_error), which names `library`, unless this process can open so many files
/// more and start a thread.
void require_room_for_files_and_a_thread(const std::string& library, int files);

}  // namespace trefoil
