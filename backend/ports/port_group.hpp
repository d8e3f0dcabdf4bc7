// SPDX-License-Identifier: BSD-3-Clause
// What every transport offers: ports that put bytes into a peer's registered memory and notify it.
//
// Ten functions make a transport: allocate, describe, address, import_memory and connect to set up;
// put and poll to run; abandon to end after a failure; error_text and port_text for people. What
// else one may be able to do stands in backend/ports/powers.hpp. docs/transports.md shows how to
// write one. What both sides owe each other:
//
// The transport must
//  - hand every accepted put to the target's group exactly once, whole, with its notification (all
//    64 bits, or the lower 32 where PortTraits::notification_bits says so), or report a failure;
//  - return `arrived` only when all bytes of that put can be read by the thread that polls;
//  - write nothing but the put's bytes, and only into memory that its target has described;
//  - report each `queued` put as `sent` exactly once, and not read its source after that;
//  - accept puts of 0 bytes, for which source and descriptor may be null;
//  - take some dozens of small puts to a peer that does not poll;
//  - deliver what is `done` or `sent` without the sender's help;
//  - see off what it has accepted when it is destroyed, for up to Patience::longest_drain;
//  - read no source any more when abandon() has returned, and let no peer take for whole what it
//    has not sent whole;
//  - neither allocate, lock, log nor throw in put() and poll().
//
// The transport need not
//  - keep any order: not between puts to different peers, nor between two through one port to one
//    peer, nor between the bytes of one put;
//  - read the source before `done` or `sent`, or write at the target before `arrived`;
//  - report `sent` soon, or in order: the peer's answer may be here before it;
//  - accept a put: `again` may come at any time, but not for ever while the owner polls;
//  - run by itself: whoever waits for `sent` or `arrived` polls;
//  - notice that a peer has died, or that a put went to a group that is no more;
//  - deliver a put, or report its failure, where PortTraits::may_lose_puts and a connection breaks.
//
// The caller must
//  - use a group from one thread at a time (wake() aside);
//  - leave the source as it is until `done` or `sent`, and put nothing to places where another put
//    may still land;
//  - where PortTraits::needs_registered_source, send from memory of the same group, with its
//    descriptor;
//  - stay inside the target's bytes;
//  - not touch memory that peers put into before their notification says so;
//  - do nothing but destroy a group that it has abandoned (wake() aside).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/error.hpp"
#include "topo/patience.hpp"
#include "topo/torus.hpp"

namespace trefoil {

// backend/ports/powers.hpp
class Waking;
class Landings;
class Storing;
class Registering;
class Pulling;
class Images;

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
    std::uint64_t registration = 0;  ///< of Registering, one per call; 0: allocated
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

/// Bytes for a peer's memory, and the notification that follows them.
struct Put {
    Port port{};
    Peer peer{};
    const void* source = nullptr;
    /// That of the LocalMemory that holds the source; may be null unless
    /// PortTraits::needs_registered_source.
    void* descriptor = nullptr;
    RemoteMemory target{};
    std::uint64_t offset = 0;  ///< in the target; the put stays inside its bytes
    std::size_t bytes = 0;     ///< 0: the notification alone
    std::uint64_t notification = 0;
    std::uint64_t cookie = 0;  ///< comes back with Event::sent or Event::failed
};

/// What a group is like; the same from its opening to its end.
struct PortTraits {
    int notification_bits = 64;  ///< how much of a notification travels: 64 bits, or the lower 32
    bool needs_registered_source = false;
    /// A put may get lost in silence where connections break. Words that must not get lost may be
    /// put again: the same bytes to the same place, though the first may still land.
    bool may_lose_puts = false;
    /// What comes while it closes harms it: peers are to have left before.
    bool closes_after_peers = false;
    /// As Transport::puts_by_stores: landing memory is in the caches of both ends.
    bool puts_by_stores = false;
    std::string provider{};  ///< the provider in use ("net"); empty where there is only one
};

/// The ports of one owner thread: one progress domain and one completion queue (progress is per
/// domain: polling a group progresses all its ports and nothing else). Not thread-safe: a group is
/// touched by one thread at a time, but for wake(). Set-up functions (allocate ... connect) throw
/// Error; the others do not throw, allocate or lock.
class PortGroup {
  public:
    virtual ~PortGroup() = default;
    PortGroup(const PortGroup&) = delete;
    PortGroup& operator=(const PortGroup&) = delete;

    /// The torus ports that this group drives, in the order given when it was opened.
    const std::vector<Port>& ports() const { return ports_; }
    const PortTraits& traits() const { return traits_; }

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

    // Data path.
    /// Writes the bytes, then delivers the notification at the target's group.
    virtual PutResult put(const Put& put) = 0;
    /// Progresses all ports; returns how many events were written.
    virtual std::size_t poll(std::span<Event> events) = 0;

    /// The end after a failure; connections may be half made. Sees off what was accepted for up to
    /// `longest`, then cuts what is left: closes its endpoints, or never touches them again. When
    /// it returns, no source of a put is read any more and nothing new is written by this group, so
    /// the sources may be changed and freed although no `sent` was reported. Only destruction may
    /// follow; it sends nothing, and need not free what cannot be freed safely in that state. By
    /// the owner. Repeating it is harmless. Where all puts are `done` at once there is nothing to
    /// do.
    virtual void abandon(std::chrono::milliseconds longest) noexcept = 0;

    /// What failed last, with the transport's own words.
    virtual std::string error_text() const = 0;
    /// Where `port` is attached, for people: "net 127.0.0.1 (lo)", "shared memory".
    virtual std::string port_text(Port port) const = 0;

    // What else this group can do; null: it cannot.
    Waking* waking() const { return powers_.waking; }
    Landings* landings() const { return powers_.landings; }
    Storing* storing() const { return powers_.storing; }
    Registering* registering() const { return powers_.registering; }
    Pulling* pulling() const { return powers_.pulling; }
    Images* images() const { return powers_.images; }

    /// Sleeps until poll() may return something, wake() is called or `longest` has passed; without
    /// Waking it naps for a nap_slice().
    void wait(std::chrono::microseconds longest);
    /// Ends the owner's wait(), or its next one if it is not waiting; without Waking, that ends by
    /// itself soon. From any thread.
    void wake();

  protected:
    struct Powers {
        Waking* waking = nullptr;
        Landings* landings = nullptr;
        Storing* storing = nullptr;
        Registering* registering = nullptr;
        Pulling* pulling = nullptr;
        Images* images = nullptr;
    };

    PortGroup() = default;

    // Set by the constructor of the transport's group.
    std::vector<Port> ports_;
    PortTraits traits_;
    Powers powers_;
};

}  // namespace trefoil
