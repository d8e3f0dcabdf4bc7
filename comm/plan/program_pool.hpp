// SPDX-License-Identifier: BSD-3-Clause
// Programs of many communicators: equal ones are kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "threads/executor/program.hpp"

namespace trefoil {

/// Communicators that are made alike make the same calls, as a rule, and a program names channels
/// by their numbers alone. It ends with the last plan that has it.
///
/// Thread-safe.
class ProgramPool {
  public:
    ProgramPool() = default;
    ProgramPool(const ProgramPool&) = delete;
    ProgramPool& operator=(const ProgramPool&) = delete;

    /// One that equals `program`: an earlier one, or this one from now on. Throws bad_alloc.
    std::shared_ptr<const Program> share(Program program);

    /// That are in use.
    std::size_t size();

  private:
    void forget_unused();

    std::mutex mutex_;
    std::unordered_multimap<std::uint64_t, std::weak_ptr<const Program>> programs_;  ///< by hash
    std::size_t forget_at_ = 64;                                                     ///< entries
};

}  // namespace trefoil
