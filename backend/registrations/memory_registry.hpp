// SPDX-License-Identifier: BSD-3-Clause
// Which memory of the user's a port group has registered, and who needs it: nothing is registered
// twice, and nothing is taken back too early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "backend/ports/port_group.hpp"

namespace trefoil {

/// Two kinds of users share registrations. A *use* is Trefoil's own, such as a request that is
/// started again and again; a *hold* is a call of the program, which says that memory will be used.
///
/// What lies inside a registered range uses that registration, however many there are. A range that
/// is inside none is registered by itself, also where it overlaps others: transports allow that,
/// and to merge them would take a range away that peers know. A registration ends with its last
/// user; nothing is kept for later.
///
/// Set-up only: allocates and throws. Not thread-safe, like the group, which must outlive it.
class MemoryRegistry {
  public:
    explicit MemoryRegistry(PortGroup& group) : registering_(group.registering()) {}
    /// Ends all registrations.
    ~MemoryRegistry();
    /// The group has been abandoned, and its registrations with it: forgets all, and touches it no
    /// more.
    void forget() noexcept;
    MemoryRegistry(const MemoryRegistry&) = delete;
    MemoryRegistry& operator=(const MemoryRegistry&) = delete;

    /// Where memory in use lies: `offset` bytes from the beginning of `memory`.
    struct Place {
        LocalMemory memory;
        std::uint64_t offset = 0;
        std::uint64_t use = 0;  ///< for end_use()
    };
    /// Registers `bytes` from `data`, or finds them registered. `user` is who says so in errors:
    /// "a persistent allreduce". Throws what Registering::register_memory() throws, and
    /// Error(unsupported) where the group does not have Registering.
    Place use(void* data, std::size_t bytes, std::string user);
    /// Peers put nothing there any more, whoever else uses the registration: a later use() makes
    /// another one.
    void close(std::uint64_t use) noexcept;
    /// Ends the registration where this was its last user. Numbers that are not in use do nothing.
    void end_use(std::uint64_t use) noexcept;

    /// The program will use these bytes. May be called more than once for the same memory; drop()
    /// ends one of them. Throws as use() does.
    void hold(void* data, std::size_t bytes);
    /// Ends a hold that began at `data`, the last one first. Throws Error(invalid_argument) where
    /// there is none, or where it is the last that keeps registered what somebody uses: then
    /// nothing changes, and the error says who.
    void drop(const void* data);
    /// Before memory is freed: throws Error(invalid_argument), which begins with `what` and names
    /// a user, where any byte of it is in use or held.
    void require_unused(const void* data, std::size_t bytes, std::string_view what) const;

    std::size_t registrations() const { return ranges_.size(); }
    /// Registered at present; what overlaps counts more than once.
    std::size_t bytes() const { return bytes_; }

  private:
    struct Range {
        LocalMemory memory;
        std::size_t users = 0;  ///< uses and holds
        std::size_t holds = 0;
        bool closed = false;
    };
    using Ranges = std::multimap<std::uintptr_t, Range>;  // by first address
    struct User {
        Ranges::iterator range;
        std::uintptr_t begin;
        std::size_t bytes;
        std::string name;  ///< empty: a hold
    };

    Ranges::iterator range_of(void* data, std::size_t bytes);
    std::uint64_t add_user(void* data, std::size_t bytes, std::string name);
    void remove_user(std::map<std::uint64_t, User>::iterator user) noexcept;
    static std::string text_of(const User& user);

    Registering* registering_;  ///< null: nothing will ever be registered
    Ranges ranges_;
    std::map<std::uint64_t, User> users_;                 // by number
    std::multimap<std::uintptr_t, std::uint64_t> holds_;  // number by first address
    std::uint64_t last_number_ = 0;
    std::size_t longest_ = 0;  ///< range that there ever was: how far back one may begin
    std::size_t bytes_ = 0;
};

}  // namespace trefoil
