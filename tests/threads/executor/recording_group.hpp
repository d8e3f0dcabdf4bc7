// SPDX-License-Identifier: BSD-3-Clause
// A port group that sends nothing: it keeps what is put, and hands out what the test lets happen.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "threads/executor/notification.hpp"
#include "threads/executor/put_cookie.hpp"

namespace trefoil::test {

class RecordingGroup : public PortGroup {
  public:
    explicit RecordingGroup(std::vector<Port> ports = {}) { ports_ = std::move(ports); }

    struct Put {
        Port port;
        const void* source;
        std::uint64_t offset;
        std::size_t bytes;
        std::uint64_t notification;
        std::uint64_t cookie;
    };

    // What puts return, and what poll() will.
    PutResult result = PutResult::queued;
    std::size_t accepts = ~std::size_t{0};  ///< so many puts in all; then they are to come again
    bool wants_registered_source = false;
    int carried_bits = 64;
    std::deque<Event> events;
    // What has been asked for.
    std::vector<Put> puts;

    void arrives(std::uint64_t notification) {
        events.push_back({Event::Kind::arrived, notification, 0});
    }
    /// Those that were queued complete, in their order.
    void complete_puts() {
        for (; completed_ < puts.size(); ++completed_) {
            events.push_back({Event::Kind::sent, 0, puts[completed_].cookie});
        }
    }

    LocalMemory allocate(std::size_t bytes) override {
        memory_.emplace_back(bytes);
        return {memory_.back().data(), bytes, nullptr};
    }
    std::string describe(const LocalMemory&) const override { return {}; }
    std::string address(Port) const override { return {}; }
    RemoteMemory import_memory(std::string_view) override { return {}; }
    Peer connect(Port, std::string_view) override { return {}; }
    PutResult put(Port port, Peer, const void* source, void*, const RemoteMemory&,
                  std::uint64_t offset, std::size_t bytes, std::uint64_t notification,
                  std::uint64_t cookie) override {
        if (puts.size() >= accepts) {
            return PutResult::again;
        }
        if (result == PutResult::done || result == PutResult::queued) {
            puts.push_back({port, source, offset, bytes, notification, cookie});
        }
        return result;
    }
    std::size_t poll(std::span<Event> room) override {
        std::size_t count = 0;
        while (!events.empty() && count < room.size()) {
            room[count++] = events.front();
            events.pop_front();
        }
        return count;
    }
    int notification_bits() const override { return carried_bits; }
    bool needs_registered_source() const override { return wants_registered_source; }
    void wait(std::chrono::microseconds) override {}
    void wake() override {}
    std::string error_text() const override { return "the cable is cut"; }
    std::string port_text(Port) const override { return "a double"; }

  private:
    std::deque<std::vector<std::byte>> memory_;
    std::size_t completed_ = 0;
};

}  // namespace trefoil::test
