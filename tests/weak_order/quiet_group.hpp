// SPDX-License-Identifier: BSD-3-Clause
// A port group whose peers are not there: puts read their sources, and what arrives is what the
// scenario lets arrive. Include after checked_atomics.hpp.
#pragma once

#include "backend/ports/notification_queue.hpp"
#include "backend/ports/read_guard.hpp"
#include "tests/backend/ports/silent_group.hpp"
#include "tests/weak_order/machine.hpp"

namespace trefoil::weak {

/// Used by its owner, but for wake(). Sleeps as backend memory does.
class QuietGroup final : public test::SilentGroup, public Waking, public Pulling {
  public:
    explicit QuietGroup(Port port) : SilentGroup({port}) {
        powers_ = {.waking = this, .pulling = this};
    }

    /// Puts leave at once, or when their completion is polled.
    PutResult result = PutResult::done;
    int puts = 0;
    // Of single copy.
    Reach its_reach = Reach::none;
    ReadGuard* own = nullptr;
    const ReadGuard* peers = nullptr;
    const void* reached = nullptr;  ///< read for reach(): of such copies compilers report nothing

    PutResult put(const Put& put) override {
        ++puts;
        if (put.bytes > 0) {
            note_read(put.source);
        }
        if (result == PutResult::queued) {
            events.push_back({Event::Kind::sent, 0, put.cookie});
        }
        return result;
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
    bool copy_from(Peer, void*, std::uint64_t, std::size_t) const override { return false; }
    ReadGuard* own_guard(int) override { return own; }
    const ReadGuard* guard_of(Peer, int) const override { return peers; }

  private:
    memory::NotificationQueue queue_;
    memory::QueueReader reader_{queue_};
};

}  // namespace trefoil::weak
