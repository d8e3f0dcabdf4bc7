// SPDX-License-Identifier: BSD-3-Clause
// A port group whose peers are not there: puts read their sources, and what arrives is what the
// scenario lets arrive. Include after checked_atomics.hpp.
#pragma once

#include <deque>
#include <vector>

#include "backend/ports/notification_queue.hpp"
#include "backend/ports/port_group.hpp"
#include "backend/ports/read_guard.hpp"
#include "tests/weak_order/machine.hpp"

namespace trefoil::weak {

/// Used by its owner, but for wake(). Sleeps as backend memory does.
class QuietGroup : public PortGroup {
  public:
    explicit QuietGroup(Port port) { ports_ = {port}; }

    /// Puts leave at once, or when their completion is polled.
    PutResult result = PutResult::done;
    std::deque<Event> events;  ///< that polls will give
    int puts = 0;
    // Of single copy.
    Reach its_reach = Reach::none;
    ReadGuard* own = nullptr;
    const ReadGuard* peers = nullptr;
    const void* reached = nullptr;  ///< read for reach(): of such copies compilers report nothing

    LocalMemory allocate(std::size_t bytes) override {
        memory_.emplace_back(bytes);
        return {memory_.back().data(), bytes, nullptr};
    }
    std::string describe(const LocalMemory&) const override { return {}; }
    std::string address(Port) const override { return {}; }
    RemoteMemory import_memory(std::string_view) override { return {}; }
    Peer connect(Port, std::string_view) override { return {}; }
    PutResult put(Port, Peer, const void* source, void*, const RemoteMemory&, std::uint64_t,
                  std::size_t bytes, std::uint64_t, std::uint64_t cookie) override {
        ++puts;
        if (bytes > 0) {
            note_read(source);
        }
        if (result == PutResult::queued) {
            events.push_back({Event::Kind::sent, 0, cookie});
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
    void wait(std::chrono::microseconds longest) override {
        if (events.empty()) {
            reader_.wait(longest);
        }
    }
    void wake() override { reader_.wake(); }
    Reach reach(Peer) const override {
        if (reached != nullptr) {
            note_read(reached);
        }
        return its_reach;
    }
    ReadGuard* own_guard(int) override { return own; }
    const ReadGuard* guard_of(Peer, int) const override { return peers; }
    std::string error_text() const override { return {}; }
    std::string port_text(Port) const override { return {}; }

  private:
    std::deque<std::vector<std::byte>> memory_;
    memory::NotificationQueue queue_;
    memory::QueueReader reader_{queue_};
};

}  // namespace trefoil::weak
