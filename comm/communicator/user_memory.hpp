// SPDX-License-Identifier: BSD-3-Clause
// Memory of the program's that Trefoil is told of: allocated, registered, and who still needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/registrations/memory_registry.hpp"
#include "threads/executor/engine.hpp"

namespace trefoil {

/// Of all communicators that share an engine. What the program registers is registered at every
/// port group, so that its calls find it registered, and nothing is pinned twice.
///
/// Thread-safe; set-up only: allocates, locks, waits for the engine, throws. Not by a thread that
/// drives the engine.
class UserMemory {
  public:
    /// The engine outlives this, and ends later.
    explicit UserMemory(Engine& engine);
    /// Ends all registrations, and frees what allocate() gave and nobody has freed.
    ~UserMemory();
    UserMemory(const UserMemory&) = delete;
    UserMemory& operator=(const UserMemory&) = delete;

    /// Zeroed, page-aligned memory, registered where that is possible. Throws
    /// Error(out_of_memory).
    void* allocate(std::size_t bytes);
    /// Throws Error(invalid_argument) for what allocate() has not given, Error(busy) where somebody
    /// uses it; then nothing changes.
    void free(void* data);
    /// The program will use these bytes, of its own memory. Throws Error(invalid_argument) where
    /// they overlap what is registered already, Error(unsupported) where the transport cannot, and
    /// what MemoryRegistry::use() throws; then nothing has changed.
    void hold(void* data, std::size_t bytes);
    /// The end of a hold. As free().
    void drop(void* data);

    /// Whoever uses memory for long says so: free() and drop() refuse meanwhile what holds any of
    /// it. `user`, for errors: "a persistent allreduce".
    std::uint64_t use(const void* data, std::size_t bytes, std::string user);
    void end_use(std::uint64_t use) noexcept;

    /// Of one port group, for peers that put into the program's memory. While the engine is held.
    MemoryRegistry& registry(std::size_t group) { return *registries_[group]; }

  private:
    struct Held {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        bool allocated = false;
        std::size_t registered = 0;  ///< at the first so many groups
    };
    struct User {
        const std::byte* data = nullptr;
        std::size_t bytes = 0;
        std::string name;
    };

    void take_in(const Held& held, bool needs_registration);
    Held& registered_at(void* data, bool allocated);
    void require_unused(const Held& held, const char* what) const;
    void deregister(Held& held) noexcept;

    Engine& engine_;
    std::mutex mutex_;  ///< guards what follows; taken before the engine is held
    std::vector<std::unique_ptr<MemoryRegistry>> registries_;  ///< by port group
    std::map<const void*, Held> held_;                         ///< disjoint
    std::map<std::uint64_t, User> users_;
    std::uint64_t last_use_ = 0;
};

}  // namespace trefoil
