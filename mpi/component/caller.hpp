// SPDX-License-Identifier: BSD-3-Clause
// Who calls a function of a communicator's table: MPI's function of that name, for the program; or
// other code of Open MPI's, for windows, files, new communicators, and within its own collectives.
#pragma once

#include <atomic>
#include <cstdint>

namespace trefoil::mpi {

/// One of MPI's functions, by its name, or the other one of another version. All ranks have the
/// same Open MPI, so what it makes by itself is the same to all.
class MpiFunction {
  public:
    constexpr explicit MpiFunction(const char* name, const char* other_name = nullptr)
        : name_(name), other_name_(other_name) {}

    /// A call that returns to `address` is this function's.
    [[gnu::always_inline]] bool has(const void* address) {
        std::uintptr_t begin = begin_.load(std::memory_order_acquire);
        if (begin == 0) {
            begin = look_up();
        }
        return reinterpret_cast<std::uintptr_t>(address) - begin <
               bytes_.load(std::memory_order_relaxed);
    }

  private:
    std::uintptr_t look_up();

    const char *name_, *other_name_;
    std::atomic<std::uintptr_t> begin_{0}, bytes_{0};
};

}  // namespace trefoil::mpi
