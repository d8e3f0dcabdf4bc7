// SPDX-License-Identifier: BSD-3-Clause
// What some transports can do beyond the ten functions of PortGroup. A group that has such a power
// implements its class and leaves a pointer to it in PortGroup::powers_; whoever finds none goes
// another way.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "backend/ports/port_group.hpp"

namespace trefoil {

struct ReadGuard;  // backend/ports/read_guard.hpp

/// Its owner can sleep until something comes.
class Waking {
  public:
    /// As PortGroup::wait(). What an arrival cannot end, naps in slices and keeps progressing.
    virtual void wait(std::chrono::microseconds longest) = 0;
    /// As PortGroup::wake().
    virtual void wake() = 0;

  protected:
    ~Waking() = default;
};

/// How long a group that cannot be woken naps before it looks again.
constexpr std::chrono::microseconds nap_slice(std::chrono::microseconds longest) {
    return std::clamp(longest / 10, std::chrono::microseconds{50},
                      std::chrono::microseconds{10'000});
}

/// Some memory of peers is mapped in this process.
class Landings {
  public:
    /// Where a put of so many bytes would land, if this process may write there itself. Whoever
    /// gathers what it sends can gather it there: put() with this as its source copies nothing and
    /// delivers the notification. Null where there is no such place, or nothing gained by it, and
    /// for registered memory, whose owner may take it back.
    virtual std::byte* landing(Peer peer, const RemoteMemory& target, std::uint64_t offset,
                               std::size_t bytes) const = 0;

  protected:
    ~Landings() = default;
};

/// Asked by the owner of a group before it sleeps: whether what it waits for has come, though the
/// group does not know of it.
struct Watch {
    bool (*has_come)(const void* context) = nullptr;
    const void* context = nullptr;

    bool operator()() const { return has_come != nullptr && has_come(context); }
};

/// All memory that peers have allocated is mapped in this process, so stores there can take the
/// place of puts. Whoever stores says so by what it stores, and nobody tells the peer to look:
/// ring() does, if it sleeps.
class Storing {
  public:
    /// Where memory lies that a peer has allocated and this group has imported; null for registered
    /// memory.
    virtual std::byte* mapped(const RemoteMemory& memory) const = 0;
    /// Ends the wait() of the peer's group, if it is in one. It does not wait until the store is
    /// seen: a group that is about to sleep asks its watch() long enough to see it, and asks again
    /// later.
    virtual void ring(Peer peer) noexcept = 0;
    /// What wait() asks before it sleeps; for as long as the group is there, or until the next.
    virtual void watch(Watch watch) noexcept = 0;
    /// A glance, by the owner: false if poll() would find that no peer has put anything.
    virtual bool may_have_arrivals() const noexcept = 0;

  protected:
    ~Storing() = default;
};

/// Peers can put straight into memory that the transport has not allocated. While the group runs;
/// by its owner, like everything else.
///
/// The transport lets no put begin to land in memory that it has deregistered, nor notifies of one
/// that comes too late and has bytes; its sender gets `failed`, `sent` as if it had landed, or
/// nothing more. It need not keep a connection over which a put comes to memory that is no longer
/// registered: that is a mistake of its user, and both ends may find the connection closed.
///
/// The caller deregisters memory only when no put of its own reads it any more, releases a peer's
/// memory only when no put of its own goes there any more, and keeps registered memory mapped and
/// writable until it is deregistered.
class Registering {
  public:
    /// Whether register_memory() can work here, with the peers that are connected. A transport may
    /// still refuse a peer that it does not reach: import_memory() there throws Error(unsupported).
    virtual bool can_register() const { return true; }
    /// Lets peers put straight into `bytes` (at least one) from `data`, any address, and lets puts
    /// read them. describe() and import_memory() are as for allocate(). The memory may be
    /// registered more than once, also in parts; each registration is ended by itself. Throws
    /// Error(unsupported), Error(invalid_argument) for memory that cannot be written, and what the
    /// transport cannot get: Error(out_of_memory), Error(system_error).
    virtual LocalMemory register_memory(void* data, std::size_t bytes) = 0;
    /// Ends a registration: takes up to Patience::longest_drain where a put is landing. A group
    /// that cannot end it otherwise closes its connections, and says so by `failed`. Does nothing
    /// for memory that is not registered here, or no longer.
    virtual void deregister(const LocalMemory& memory) noexcept = 0;
    /// True: when deregister() has returned nothing is written there any more, however far a put
    /// had come. False: a put that had begun to land may go on; only abandon(), or the knowledge
    /// that all puts have arrived, makes the memory the caller's alone.
    virtual bool deregister_stops_landing() const { return true; }
    /// Lets go of what import_memory() has returned; as often as it was imported.
    virtual void release(const RemoteMemory&) noexcept {}

  protected:
    ~Registering() = default;
};

/// How a group gets at the memory of a peer's process, registered or not.
enum class Reach : std::uint8_t {
    none,
    copies,    ///< copy_from()
    addresses  ///< the peer's process is this one: its addresses are valid here, too
};

/// Direct access to the memory of ranks on this host. From any thread, while that memory stands
/// still.
class Pulling {
  public:
    /// Tried out when the peer was connected.
    virtual Reach reach(Peer peer) const = 0;
    /// Copies `bytes` from `address` of the peer's process. False: errno tells why not.
    virtual bool copy_from(Peer peer, void* target, std::uint64_t address,
                           std::size_t bytes) const = 0;
    /// This group's guard at a place, and that of the group at the other end: of what is pulled,
    /// and of images.
    virtual ReadGuard* own_guard(int place) = 0;
    virtual const ReadGuard* guard_of(Peer peer, int place) const = 0;

  protected:
    ~Pulling() = default;
};

inline Reach reach_of(const PortGroup& group, Peer peer) {
    return group.pulling() == nullptr ? Reach::none : group.pulling()->reach(peer);
}

/// Memory of this group's that its peers read where it lies. What is in one goes to any number of
/// peers by one copy of its owner's and one of each reader's. A group that has it has Pulling, too.
class Images {
  public:
    /// A page-aligned piece of it; what was in it is anything. From any thread. Throws Error.
    virtual std::byte* take_image(std::size_t bytes) = 0;
    /// When no peer reads it any more. From any thread.
    virtual void give_back_image(std::byte* image) noexcept = 0;
    /// Where a peer's image is mapped here that lies at `address` of its process; null: it cannot
    /// be. From any thread. Mapped until the group ends.
    virtual std::byte* image_of(Peer peer, std::uint64_t address) noexcept = 0;

  protected:
    ~Images() = default;
};

}  // namespace trefoil
