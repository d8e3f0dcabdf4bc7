// SPDX-License-Identifier: BSD-3-Clause
// What every transport offers: ports that put bytes into a peer's registered memory and notify it.
// Semantics as uTofu's put with a remote notification: once Arrived{notification} was returned by
// poll(), the bytes of that put are visible to the thread that polled.
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
    std::uint32_t notification = 0;
    std::uint64_t cookie = 0;
};

/// Memory that peers can put into and that puts may read from. Owned by the group that allocated
/// it.
struct LocalMemory {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    void* descriptor = nullptr;  ///< the transport's local key, passed back to put()
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
    copies,    ///< copy_from() and copy_to()
    addresses  ///< the peer's process is this one: its addresses are valid here, too
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

    // Data path.
    /// Writes `bytes` (0 allowed) from `source` to `target` + `offset`, then delivers
    /// `notification` at the target's group. `descriptor` is that of the LocalMemory that holds the
    /// source; it may be null unless needs_registered_source(). The caller stays inside the
    /// target's bytes.
    virtual PutResult put(Port port, Peer peer, const void* source, void* descriptor,
                          const RemoteMemory& target, std::uint64_t offset, std::size_t bytes,
                          std::uint32_t notification, std::uint64_t cookie) = 0;
    /// Where a put of so many bytes would land, if this process may write there itself. Whoever
    /// gathers what it sends can gather it there: put() with this as its source copies nothing and
    /// delivers the notification. Null where there is no such place, or nothing gained by it.
    virtual std::byte* landing(Peer, const RemoteMemory& /*target*/, std::uint64_t /*offset*/,
                               std::size_t /*bytes*/) const {
        return nullptr;
    }
    /// Progresses all ports; returns how many events were written.
    virtual std::size_t poll(std::span<Event> events) = 0;
    /// Sleeps until poll() may return something, wake() is called or `longest` has passed. What an
    /// arrival cannot wake, naps in slices (see nap_slice) and keeps progressing.
    virtual void wait(std::chrono::microseconds longest) = 0;
    /// Ends the owner's wait(), or its next one if it is not waiting. From any thread.
    virtual void wake() = 0;

    // Direct access to the memory of ranks on this host, where the transport has it. From any
    // thread, while that memory stands still.
    /// Tried out when the peer was connected.
    virtual Reach reach(Peer) const { return Reach::none; }
    /// Copies `bytes` from, or to, `address` of the peer's process. False: errno tells why not.
    virtual bool copy_from(Peer, void* /*target*/, std::uint64_t /*address*/,
                           std::size_t /*bytes*/) const {
        return false;
    }
    virtual bool copy_to(Peer, std::uint64_t /*address*/, const void* /*source*/,
                         std::size_t /*bytes*/) const {
        return false;
    }

    /// The job has failed, so connections may be half made: from now on nothing but the end is
    /// asked of this group, and it need not free what cannot be freed safely in that state.
    virtual void abandon() noexcept {}

    virtual bool needs_registered_source() const { return false; }
    /// Puts of up to this many bytes return `done`.
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

/// How long a group that is closed goes on sending what it has queued.
constexpr std::chrono::milliseconds longest_drain{500};

/// How long a group that cannot be woken naps before it looks again.
constexpr std::chrono::microseconds nap_slice(std::chrono::microseconds longest) {
    return std::clamp(longest / 10, std::chrono::microseconds{50},
                      std::chrono::microseconds{10'000});
}

/// What a communicator asks a backend to open. Groups partition the ports.
struct BackendConfig {
    std::string provider;                   ///< ofi: "net", "tcp;ofi_rxm", "shm" ...; empty: best
    std::vector<std::vector<Port>> groups;  ///< one entry per owner thread
    std::vector<std::string> nics;          ///< per port index: address or name; empty: any
    Rank rank = 0;                          ///< for messages
    /// All peers share this host's network: a NIC that is not named may be the loopback interface,
    /// which is preferred then, so that nothing leaves the host.
    bool one_host = true;
};

/// A backend as a table entry: its name, and why it is absent from this build or machine.
struct BackendInfo {
    std::string_view name;     ///< "memory", "ofi"
    std::string_view summary;  ///< one line for `trefoil info`
    bool built = false;
    std::string reason;  ///< why it is not built, and how to get it; empty when built
};
std::vector<BackendInfo> backends();

/// One line per thing that can be chosen as provider / NIC of a backend, for `trefoil info` and
/// errors.
struct ProviderInfo {
    std::string provider;
    std::string nic;      ///< interface or device name; may be empty
    std::string address;  ///< printable address; may be empty
    std::string pci{};    ///< "0000:3b:00.0" where the library tells it; may be empty
};
std::vector<ProviderInfo> providers(std::string_view backend);

/// The NICs among which a backend can bind ports, with the provider that a configuration asks for.
struct NicOffers {
    std::string source;              ///< who offers them, for messages: "libfabric provider net"
    std::vector<ProviderInfo> nics;  ///< one per (NIC, address); shared memory is no NIC
    /// Ranks of this host are reached without a NIC where that is possible.
    bool uses_shared_memory = false;
    /// A setting of the library that already chooses ("UCX_NET_DEVICES"); empty: none.
    std::string settled_by;
};
/// Throws as open_backend() does for a backend or provider that does not exist.
NicOffers nic_offers(std::string_view backend, const std::string& provider);

/// Opens one group per entry of config.groups. Throws Error(not_found) for a backend, provider or
/// NIC that does not exist (naming those that do), Error(unsupported) for one that lacks RMA with
/// remote notification, Error(system_error) when the library refuses.
std::vector<std::unique_ptr<PortGroup>> open_backend(std::string_view name,
                                                     const BackendConfig& config);

}  // namespace trefoil
