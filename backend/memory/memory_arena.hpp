// SPDX-License-Identifier: BSD-3-Clause
// The anonymous file that all shared memory of this process lies in: one descriptor, however many
// regions there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "topo/descriptor.hpp"

namespace trefoil::memory {

/// Places in the file are handed out once and never again: who still writes to memory that was
/// given back writes to nobody's. The file costs memory only where something was written, and lives
/// as long as a place in it does. Thread-safe. A child after fork() begins a file of its own, and
/// so does a program that has closed the present one.
class Arena {
  public:
    struct Place {
        std::shared_ptr<const Arena> arena;
        std::uint64_t offset = 0;  ///< a multiple of the page
    };
    /// Zeroed; `bytes` is a multiple of the page. Throws Error(out_of_memory),
    /// Error(system_error).
    static Place take(std::size_t bytes);

    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    int file() const { return file_.number(); }

  private:
    Arena();
    bool has_room(std::size_t bytes) const;

    Descriptor file_;
    int maker_ = 0;
    std::uint64_t end_ = 0;  ///< what was handed out; guarded by the lock of take()
};

/// Throws for a system call that failed: out_of_memory for ENOMEM, else system_error.
[[noreturn]] void fail_by_system(const char* what, int error);

}  // namespace trefoil::memory
