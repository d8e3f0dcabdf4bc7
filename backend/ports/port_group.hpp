// SPDX-License-Identifier: BSD-3-Clause
// What every transport offers: ports that put bytes into a peer's registered memory and notify it.
//
// Ten methods make a transport: allocate, describe, address, import_memory and connect to set up;
// put, poll, wait and wake to run; error_text (and port_text) for people. Three more let peers put
// into memory of the user's: register_memory, deregister and release. What they owe each other:
//
// The transport must
//  - hand every accepted put to the target's group exactly once, whole, with its notification (all
//    64 bits, or the lower 32 where notification_bits() says so), or report a failure;
//  - return `arrived` only when all bytes of that put can be read by the thread that polls;
//  - write nothing but the put's bytes, and only into memory that its target has described;
//  - report each `queued` put as `sent` exactly once, and not read its source after that;
//  - accept puts of 0 bytes, for which source and descriptor may be null;
//  - end wait() when something arrives or wake() is called, or nap in short slices;
//  - take some dozens of small puts to a peer that does not poll;
//  - deliver what is `done` or `sent` without the sender's help;
//  - see off what it has accepted when it is destroyed, for up to Patience::longest_drain;
//  - read no source any more when abandon() has returned, and let no peer take for whole what it
//    has not sent whole;
//  - neither allocate, lock, log nor throw in put() and poll();
//  - let no put begin to land in memory that it has deregistered, nor notify of one that comes too
//    late and has bytes. Its sender gets `failed`, `sent` as if it had landed, or nothing more;
//  - where deregister_stops_landing(), write nothing there any more when deregister() has returned,
//    however far a put had come.
//
// The transport need not
//  - keep any order: not between puts to different peers, nor between two through one port to one
//    peer, nor between the bytes of one put;
//  - read the source before `done` or `sent`, or write at the target before `arrived`;
//  - report `sent` soon, or in order: the peer's answer may be here before it;
//  - accept a put: `again` may come at any time, but not for ever while the owner polls;
//  - run by itself: whoever waits for `sent` or `arrived` polls;
//  - notice that a peer has died, or that a put went to a group that is no more;
//  - deliver a put, or report its failure, where may_lose_puts() and a connection breaks;
//  - keep a connection over which a put comes to memory that is no longer registered: that is a
//    mistake of its user, and both ends may find the connection closed.
//
// The caller must
//  - use a group from one thread at a time (wake() aside);
//  - leave the source as it is until `done` or `sent`, and put nothing to places where another put
//    may still land;
//  - where needs_registered_source(), send from memory of the same group, with its descriptor;
//  - stay inside the target's bytes;
//  - not touch memory that peers put into before their notification says so;
//  - deregister memory only when no put of its own reads it any more, and release a peer's memory
//    only when no put of its own goes there any more;
//  - keep registered memory mapped and writable until it is deregistered;
//  - do nothing but destroy a group that it has abandoned (wake() aside).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/error.hpp"
#include "topo/patience.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// A completion returned by PortGroup::poll.
struct Event {
    enum class Kind : std::uint8_t {
        sent,     ///< a queued put's source may be reused; `cookie` is the put's
        arrived,  ///< a peer's put (all its bytes) is here; `notification` is the put's
        failed    ///< the transport reported an error: error_text() tells; `cookie` if it was a put
    };
    Kind kind = Kind::sent;
    std::uint64_t notification = 0;
    std::uint64_t cookie = 0;
};

/// Memory that peers can put into and that puts may read from. Owned by the group that allocated
/// it, or by the caller who had it registered.
struct LocalMemory {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    void* descriptor = nullptr;      ///< the transport's local key, passed back to put()
    std::uint64_t registration = 0;  ///< of register_memory(), one per call; 0: allocated
};

/// A peer's LocalMemory as seen from here. Trivially copyable; made by PortGroup::import_memory.
struct RemoteMemory {
    std::uint64_t base = 0;  ///< address or offset, as the transport counts
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
};

/// A peer endpoint as seen from one local port; made by PortGroup::connect.
struct Peer {
    std::uint64_t handle = 0;
};

enum class PutResult : std::uint8_t {
    done,    ///< accepted, and the source may be reused already; no event follows
    queued,  ///< accepted; Event::sent with the cookie follows
    again,   ///< not accepted: poll, then try again
    failed   ///< error_text() tells
};

/// How a group gets at the memory of a peer's process, registered or not.
enum class Reach : std::uint8_t {
    none,
    copies,    ///< copy_from()
    addresses  ///< the peer's process is this one: its addresses are valid here, too
};

struct ReadGuard;  // backend/ports/read_guard.hpp

/// Asked by the owner of a group before it sleeps: whether what it waits for has come, though the
/// group does not know of it.
struct Watch {
    bool (*has_come)(const void* context) = nullptr;
    const void* context = nullptr;

    bool operator()() const { return has_come != nullptr && has_come(context); }
};

/// The ports of one owner thread: one progress domain and one completion queue (progress is per
/// domain: polling a group progresses all its ports and nothing else). Not thread-safe: a group is
/// touched by one thread at a time, but for wake(). Set-up functions (allocate ... connect) throw
/// Error; the others do not throw, allocate or lock.
class PortGroup {
  public:
    virtual ~PortGroup() = default;

    /// The torus ports that this group drives, in the order given when it was opened.
    const std::vector<Port>& ports() const { return ports_; }

    // Set-up.
    /// Zeroed, page-aligned, registered memory; freed with the group.
    virtual LocalMemory allocate(std::size_t bytes) = 0;
    /// What a peer needs for import_memory(); opaque bytes.
    virtual std::string describe(const LocalMemory& memory) const = 0;
    /// What a peer needs for connect() to reach this group's `port`; opaque bytes.
    virtual std::string address(Port port) const = 0;
    virtual RemoteMemory import_memory(std::string_view description) = 0;
    /// Makes the endpoint with this address reachable from local `port`. Repeating it is harmless.
    virtual Peer connect(Port port, std::string_view address) = 0;

    // Memory of the user's, while the group runs; by its owner, like everything else.
    /// Whether register_memory() can work here. A transport may still refuse a peer that it does
    /// not reach: import_memory() there throws Error(unsupported).
    virtual bool can_register() const { return false; }
    /// Lets peers put straight into `bytes` (at least one) from `data`, any address, and lets puts
    /// read them. describe() and import_memory() are as for allocate(). The memory may be
    /// registered more than once, also in parts; each registration is ended by itself. Throws
    /// Error(unsupported), Error(invalid_argument) for memory that cannot be written, and what the
    /// transport cannot get: Error(out_of_memory), Error(system_error).
    virtual LocalMemory register_memory(void* /*data*/, std::size_t bytes) {
        throw Error(Status::unsupported, "this transport cannot let peers put into " +
                                             std::to_string(bytes) +
                                             " bytes of memory that it has not allocated");
    }
    /// Ends a registration: takes up to Patience::longest_drain where a put is landing. A group
    /// that cannot end it otherwise closes its connections, and says so by `failed`. Does nothing
    /// for memory that is not registered here, or no longer.
    virtual void deregister(const LocalMemory&) noexcept {}
    /// False: a put that had begun to land when deregister() was called may go on; only abandon(),
    /// or the knowledge that all puts have arrived, makes the memory the caller's alone.
    virtual bool deregister_stops_landing() const { return true; }
    /// Lets go of what import_memory() has returned; as often as it was imported.
    virtual void release(const RemoteMemory&) noexcept {}

    // Data path.
    /// Writes `bytes` (0 allowed) from `source` to `target` + `offset`, then delivers
    /// `notification` at the target's group. `descriptor` is that of the LocalMemory that holds the
    /// source; it may be null unless needs_registered_source(). The caller stays inside the
    /// target's bytes.
    virtual PutResult put(Port port, Peer peer, const void* source, void* descriptor,
                          const RemoteMemory& target, std::uint64_t offset, std::size_t bytes,
                          std::uint64_t notification, std::uint64_t cookie) = 0;
    /// Where a put of so many bytes would land, if this process may write there itself. Whoever
    /// gathers what it sends can gather it there: put() with this as its source copies nothing and
    /// delivers the notification. Null where there is no such place, or nothing gained by it, and
    /// for registered memory, whose owner may take it back.
    virtual std::byte* landing(Peer, const RemoteMemory& /*target*/, std::uint64_t /*offset*/,
                               std::size_t /*bytes*/) const {
        return nullptr;
    }
    /// Progresses all ports; returns how many events were written.
    virtual std::size_t poll(std::span<Event> events) = 0;
    /// A glance, by the owner: false if poll() would find that no peer has put anything.
    virtual bool may_have_arrivals() const noexcept { return true; }
    /// Sleeps until poll() may return something, wake() is called or `longest` has passed. What an
    /// arrival cannot wake, naps in slices (see nap_slice) and keeps progressing.
    virtual void wait(std::chrono::microseconds longest) = 0;
    /// Ends the owner's wait(), or its next one if it is not waiting. From any thread.
    virtual void wake() = 0;

    // Stores instead of puts, where all imported memory is mapped here (maps_peers()). Whoever
    // stores there says so by what he stores, and nobody tells the peer to look: ring() does, if it
    // sleeps.
    virtual bool maps_peers() const { return false; }
    /// Where memory lies that a peer has allocated and this group has imported.
    virtual std::byte* mapped(const RemoteMemory&) const { return nullptr; }
    /// Ends the wait() of the peer's group, if it is in one. It does not wait until the store is
    /// seen: who is about to sleep asks its watch() long enough to see it, and asks again later.
    virtual void ring(Peer) noexcept {}
    /// What wait() asks before it sleeps; for as long as the group is there, or until the next.
    virtual void watch(Watch) noexcept {}

    // Images: memory of this group's that its peers read where it lies. What is in one goes to any
    // number of peers by one copy of its owner's and one of each reader's.
    virtual bool shows_images() const { return false; }
    /// A page-aligned piece of it; what was in it is anything. From any thread. Throws Error.
    virtual std::byte* take_image(std::size_t bytes) {
        throw Error(Status::unsupported,
                    "this transport has no image of " + std::to_string(bytes) + " bytes to show");
    }
    /// When no peer reads it any more. From any thread.
    virtual void give_back_image(std::byte*) noexcept {}
    /// Where a peer's image is mapped here that lies at `address` of its process; null: it cannot
    /// be. From any thread. Mapped until the group ends.
    virtual std::byte* image_of(Peer, std::uint64_t /*address*/) noexcept { return nullptr; }

    // Direct access to the memory of ranks on this host, where the transport has it. From any
    // thread, while that memory stands still.
    /// Tried out when the peer was connected.
    virtual Reach reach(Peer) const { return Reach::none; }
    /// Copies `bytes` from `address` of the peer's process. False: errno tells why not.
    virtual bool copy_from(Peer, void* /*target*/, std::uint64_t /*address*/,
                           std::size_t /*bytes*/) const {
        return false;
    }

    /// Where reach() is not `none`, or images are shown: this group's guard at a place, and that of
    /// the group at the other end.
    virtual ReadGuard* own_guard(int /*place*/) { return nullptr; }
    virtual const ReadGuard* guard_of(Peer, int /*place*/) const { return nullptr; }

    /// The end after a failure; connections may be half made. Sees off what was accepted for up to
    /// `longest`, then cuts what is left: closes its endpoints, or never touches them again. When
    /// it returns, no source of a put is read any more and nothing new is written by this group, so
    /// the sources may be changed and freed although no `sent` was reported. Only destruction may
    /// follow; it sends nothing, and need not free what cannot be freed safely in that state. By
    /// the owner. Repeating it is harmless. Where all puts are `done` at once there is nothing to
    /// do.
    virtual void abandon(std::chrono::milliseconds /*longest*/) noexcept {}

    /// How much of a notification travels: 64 bits, or the lower 32.
    virtual int notification_bits() const { return 64; }
    /// As Transport::puts_by_stores: landing memory is in the caches of both ends.
    virtual bool puts_by_stores() const { return false; }
    virtual bool needs_registered_source() const { return false; }
    /// A put may get lost in silence where connections break. Words that must not get lost may be
    /// put again: the same bytes to the same place, though the first may still land.
    virtual bool may_lose_puts() const { return false; }
    /// What comes while it closes harms it: peers are to have left before.
    virtual bool closes_after_peers() const { return false; }
    /// Puts of up to this many bytes to allocated memory return `done`.
    virtual std::size_t inject_bytes() const { return 0; }
    /// The provider in use ("net"); empty where the backend has only one.
    virtual std::string provider() const { return {}; }
    /// What failed last, with the transport's own words.
    virtual std::string error_text() const = 0;
    /// Where `port` is attached, for people: "net 127.0.0.1 (lo)", "shared memory".
    virtual std::string port_text(Port port) const = 0;

  protected:
    std::vector<Port> ports_;
};

/// How long a group that cannot be woken naps before it looks again.
constexpr std::chrono::microseconds nap_slice(std::chrono::microseconds longest) {
    return std::clamp(longest / 10, std::chrono::microseconds{50},
                      std::chrono::microseconds{10'000});
}

}  // namespace trefoil
