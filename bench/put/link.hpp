// SPDX-License-Identifier: BSD-3-Clause
// The two ranks of `trefoil perf put` as each sees the other: one port, memory on both sides, and
// puts that are retried until they are accepted.
#pragma once

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "backend/ports/port_group.hpp"

namespace trefoil::tool {

/// Where puts land.
enum class PutInto : std::uint8_t {
    landing,  ///< memory of the port group's
    copied,   ///< the same, and the receiver copies them on to plain memory
    direct    ///< plain memory, which is registered
};

struct PutTransport {
    std::string backend;  ///< empty: the default_transport()
    std::string provider, nics;
    std::chrono::milliseconds timeout{};  ///< of every wait
    bool pin = true;                      ///< the calling thread, to a core of its own
    bool plain = false;                   ///< puts go to plain memory, too
};

/// Rank 0's port +0 is linked with rank 1's port -0. Opened by both ranks together, each in the
/// thread that uses it. Waits poll all the time where the ranks have a core each, else they yield.
class PutLink {
  public:
    /// `bytes` of memory to send from and as many to receive into. Throws Error.
    PutLink(Bootstrap& bootstrap, const PutTransport& transport, std::size_t bytes);

    Rank rank() const { return rank_; }
    std::byte* outbox() const { return outbox_.data; }
    /// From the next put on; alike on both ranks. All but `landing` needs PutTransport::plain.
    void put_into(PutInto into) { into_ = into; }
    /// What has arrived at `at`, where its receiver wants it.
    std::byte* received(std::size_t at, std::size_t bytes) {
        if (into_ == PutInto::landing) {
            return inbox_.data + at;
        }
        if (into_ == PutInto::copied && bytes > 0) {
            std::memcpy(plain_.get() + at, inbox_.data + at, bytes);
        }
        return plain_.get() + at;
    }
    const std::string& backend() const { return backend_; }
    std::string provider() const { return group_->traits().provider; }
    std::string port_text() const { return group_->port_text(port_); }
    /// This rank's core and the peer's; -1: not pinned.
    std::array<int, 2> cores() const { return cores_; }

    /// Puts outbox()[at, at + bytes) to the same place of the peer's inbox. Throws Error(timeout)
    /// when the transport does not accept it in time.
    void put(std::size_t at, std::size_t bytes, std::uint64_t notification) {
        put_to(into_ == PutInto::direct ? plain_target_ : target_, at, bytes, notification);
    }
    /// Takes the next notification that has arrived; false: none is here.
    bool next(std::uint64_t& notification) {
        if (taken_ == arrived_.size()) {
            arrived_.clear();
            taken_ = 0;
            absorb();
            if (arrived_.empty()) {
                return false;
            }
        }
        notification = arrived_[taken_++];
        return true;
    }
    /// Waits for the next notification. Throws Error(timeout), or Error(peer_lost) when the
    /// transport reports a failure.
    std::uint64_t await() {
        std::uint64_t notification = 0;
        while (!next(notification)) {
            idle();
        }
        idle_polls_ = 0;
        return notification;
    }
    /// Waits until both ranks are here; returns the peer's value.
    std::uint64_t exchange(std::uint64_t value);

  private:
    static constexpr std::size_t control_bytes = 64;  // of a value of exchange()
    static constexpr std::uint64_t control_notification = 0xffffffff;
    static constexpr std::uint32_t polls_per_look = 4096;  // at the clock

    void meet(Bootstrap& bootstrap, const PutTransport& transport);
    void open(Bootstrap& bootstrap, const PutTransport& transport);
    void put_to(const RemoteMemory& target, std::size_t at, std::size_t bytes,
                std::uint64_t notification);
    void open_plain(Bootstrap& bootstrap);
    void absorb();
    void idle() {
        if (++idle_polls_ % polls_per_look == 0 || !spins_) {
            look_at_clock();
        }
    }
    void look_at_clock();
    [[noreturn]] void fail() const;

    Rank rank_;
    Port port_;
    std::size_t bytes_;
    std::chrono::milliseconds timeout_;
    std::string backend_;
    bool one_host_ = true, spins_ = true;
    std::array<int, 2> cores_{-1, -1};
    std::unique_ptr<std::byte[]> plain_;  // goes after the group that has registered it
    std::unique_ptr<PortGroup> group_;
    LocalMemory outbox_, inbox_;
    RemoteMemory target_, plain_target_;
    PutInto into_ = PutInto::landing;
    Peer peer_;
    std::array<Event, 16> events_;        // of one poll; not cleared for each
    std::vector<std::uint64_t> arrived_;  // notifications, but those of exchange()
    std::size_t taken_ = 0;
    std::uint64_t exchanges_ = 0, exchanges_arrived_ = 0;
    std::uint64_t idle_polls_ = 0;
    std::chrono::steady_clock::time_point idle_since_;
};

}  // namespace trefoil::tool
