// SPDX-License-Identifier: BSD-3-Clause
// A port group for tests: as demanding as the interface allows. Sources must be registered, bytes
// leave only when polled, puts are refused now and then, and completions can be held back. Or it
// sleeps, regardless of the time asked for, until an arrival or a sibling wakes it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "backend/ports/port_group.hpp"

namespace trefoil::test {

class GroupDouble final : public PortGroup {
  public:
    explicit GroupDouble(const std::vector<Port>& ports) { ports_ = ports; }

    /// From now on completions wait until `over()`, which is asked by the group's owner.
    void hold_completions(std::function<bool()> over) { held_until_ = std::move(over); }
    /// Puts to `peer` from now on are refused and counted, as if it had to be connected to anew.
    void lose(const GroupDouble& peer) { lost_.insert(&peer); }
    int refused_to_lost() const { return refused_to_lost_; }

    LocalMemory allocate(std::size_t bytes) override {
        own_.emplace_back(bytes);
        return {own_.back().data(), bytes, &own_.back()};
    }
    std::string describe(const LocalMemory& memory) const override {
        return {reinterpret_cast<const char*>(&memory), sizeof memory};
    }
    std::string address(Port) const override {
        const GroupDouble* self = this;
        return {reinterpret_cast<const char*>(&self), sizeof self};
    }
    RemoteMemory import_memory(std::string_view description) override {
        LocalMemory memory;
        std::memcpy(&memory, description.data(), sizeof memory);
        return {reinterpret_cast<std::uint64_t>(memory.data), 0, memory.bytes};
    }
    Peer connect(Port, std::string_view address) override {
        Peer peer;
        std::memcpy(&peer.handle, address.data(), sizeof peer.handle);
        return peer;
    }

    PutResult put(Port, Peer peer, const void* source, void* descriptor, const RemoteMemory& target,
                  std::uint64_t offset, std::size_t bytes, std::uint64_t notification,
                  std::uint64_t cookie) override {
        if (lost_.count(reinterpret_cast<GroupDouble*>(peer.handle)) > 0) {
            ++refused_to_lost_;
            return PutResult::again;
        }
        if ((!sleeps_until_woken && random_() % 4 == 0) || queued_.size() >= 8) {
            return PutResult::again;
        }
        EXPECT_LE(offset + bytes, target.bytes);
        EXPECT_TRUE(bytes == 0 || is_registered(source, descriptor, bytes));
        queued_.push_back({peer, source, target.base + offset, bytes, notification, cookie});
        return PutResult::queued;
    }

    std::size_t poll(std::span<Event> events) override {
        std::size_t written = 0;
        if (!queued_.empty()) {
            send(queued_.front());
            completed_.push_back(queued_.front().cookie);
            queued_.pop_front();
        }
        if (held_until_ && held_until_()) {
            held_until_ = {};
        }
        while (!held_until_ && !completed_.empty() && written < events.size()) {
            events[written++] = {Event::Kind::sent, 0, completed_.front()};
            completed_.pop_front();
        }
        const std::lock_guard lock(mutex_);
        while (!arrived_.empty() && written < events.size()) {
            events[written++] = {Event::Kind::arrived, arrived_.front(), 0};
            arrived_.pop_front();
        }
        return written;
    }
    /// Groups then count the sleeps that nobody has ended.
    static inline std::atomic<bool> sleeps_until_woken{false};
    static inline std::atomic<int> sleeps_in_vain{0};

    void wait(std::chrono::microseconds longest) override {
        if (!sleeps_until_woken) {
            std::this_thread::sleep_for(std::min(longest, std::chrono::microseconds{1000}));
            return;
        }
        std::unique_lock lock(mutex_);
        const auto has_work = [this] {
            return woken_ || !arrived_.empty() || !queued_.empty() || !completed_.empty();
        };
        if (!changed_.wait_for(lock, std::chrono::seconds(5), has_work)) {
            ++sleeps_in_vain;
        }
        woken_ = false;
    }
    void wake() override {
        const std::lock_guard lock(mutex_);
        woken_ = true;
        changed_.notify_one();
    }

    void abandon(std::chrono::milliseconds) noexcept override {
        for (; !queued_.empty(); queued_.pop_front()) {
            send(queued_.front());
        }
    }
    bool needs_registered_source() const override { return true; }
    std::string error_text() const override { return "none"; }
    std::string port_text(Port) const override { return "test double"; }

  private:
    struct Queued {
        Peer peer;
        const void* source;
        std::uint64_t target;
        std::size_t bytes;
        std::uint64_t notification;
        std::uint64_t cookie;
    };

    bool is_registered(const void* source, const void* descriptor, std::size_t bytes) const {
        for (const auto& memory : own_) {
            const auto* first = static_cast<const std::byte*>(source);
            if (&memory == descriptor) {
                return first >= memory.data() && first + bytes <= memory.data() + memory.size();
            }
        }
        return false;
    }

    static void send(const Queued& put) {
        if (put.bytes > 0) {
            std::memcpy(reinterpret_cast<void*>(put.target), put.source, put.bytes);
        }
        auto* target = reinterpret_cast<GroupDouble*>(put.peer.handle);
        const std::lock_guard lock(target->mutex_);  // publishes the bytes to the target's poll()
        target->arrived_.push_back(put.notification);
        target->changed_.notify_one();
    }

    std::deque<std::vector<std::byte>> own_;
    std::deque<Queued> queued_;
    std::deque<std::uint64_t> completed_;
    std::function<bool()> held_until_;
    std::set<const GroupDouble*> lost_;
    int refused_to_lost_ = 0;
    std::minstd_rand random_;
    std::mutex mutex_;  // guards arrived_ and woken_
    std::condition_variable changed_;
    bool woken_ = false;
    std::deque<std::uint64_t> arrived_;
};

}  // namespace trefoil::test
