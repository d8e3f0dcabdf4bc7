// SPDX-License-Identifier: BSD-3-Clause
// A port group between threads that promises no more than the interface: puts are refused now and
// then, sources are read late, bytes and notifications of different puts overtake each other, and
// completions come in any order. Or it sleeps, however short a sleep is asked for, until it has
// something to do or is woken.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "backend/ports/port_group.hpp"

namespace trefoil::test {

class LooseGroup final : public PortGroup {
  public:
    LooseGroup(const std::vector<Port>& ports, unsigned seed) : random_(seed) { ports_ = ports; }

    /// From now on, and refuses no put without need: nobody would say when to try again.
    void sleep_until_woken(bool is_to = true) { sleeps_until_woken_ = is_to; }
    /// Such sleeps that nobody has ended.
    static inline std::atomic<int> sleeps_in_vain{0};

    LocalMemory allocate(std::size_t bytes) override {
        memory_.push_back(std::make_unique<std::byte[]>(bytes));
        return {memory_.back().get(), bytes, nullptr};
    }
    std::string describe(const LocalMemory& memory) const override {
        return {reinterpret_cast<const char*>(&memory), sizeof memory};
    }
    std::string address(Port) const override {
        const LooseGroup* self = this;
        return {reinterpret_cast<const char*>(&self), sizeof self};
    }
    RemoteMemory import_memory(std::string_view description) override {
        LocalMemory memory;
        std::memcpy(&memory, description.data(), sizeof memory);
        return {reinterpret_cast<std::uint64_t>(memory.data), memory.registration, memory.bytes};
    }

    bool can_register() const override { return true; }
    LocalMemory register_memory(void* data, std::size_t bytes) override {
        const std::lock_guard lock(registered_mutex_);
        registered_.insert(++registrations_);
        return {static_cast<std::byte*>(data), bytes, nullptr, registrations_};
    }
    void deregister(const LocalMemory& memory) noexcept override {
        const std::lock_guard lock(registered_mutex_);
        registered_.erase(memory.registration);
    }
    Peer connect(Port, std::string_view address) override {
        Peer peer;
        std::memcpy(&peer.handle, address.data(), sizeof peer.handle);
        return peer;
    }

    PutResult put(Port, Peer peer, const void* source, void*, const RemoteMemory& target,
                  std::uint64_t offset, std::size_t bytes, std::uint64_t notification,
                  std::uint64_t cookie) override {
        if ((!sleeps_until_woken_ && random_() % 4 == 0) ||
            leaving_.size() + completing_.size() >= 6) {
            return PutResult::again;
        }
        leaving_.push_back(
            {peer, source, target.base + offset, target.key, bytes, notification, cookie});
        return PutResult::queued;
    }

    /// One put at most leaves, any; one completion at most is told, any; arrivals in any order.
    std::size_t poll(std::span<Event> events) override {
        std::size_t count = 0;
        if (!leaving_.empty() && random_() % 2 == 0) {
            const Leaving put = take_any(leaving_);
            land(put);
            completing_.push_back(put.cookie);
        }
        if (!completing_.empty() && random_() % 2 == 0) {
            events[count++] = {Event::Kind::sent, 0, take_any(completing_)};
        }
        const std::lock_guard lock(mutex_);
        while (!arrived_.empty() && random_() % 4 != 0 && count < events.size()) {
            events[count++] = {Event::Kind::arrived, take_any(arrived_), 0};
        }
        return count;
    }
    void wait(std::chrono::microseconds longest) override {
        if (!sleeps_until_woken_) {
            std::this_thread::sleep_for(std::min(longest, std::chrono::microseconds(200)));
            return;
        }
        std::unique_lock lock(mutex_);
        const auto has_work = [this] {
            return woken_ || !arrived_.empty() || !leaving_.empty() || !completing_.empty();
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
    /// All leaves at once; who waits longest does not matter here.
    void abandon(std::chrono::milliseconds) noexcept override {
        std::vector<Event> lost(64);
        while (!leaving_.empty()) {
            poll(lost);
        }
    }
    std::string error_text() const override { return "none"; }
    std::string port_text(Port) const override { return "a loose end"; }

  private:
    struct Leaving {
        Peer peer;
        const void* source;
        std::uint64_t target;
        std::uint64_t registration;  ///< 0: allocated
        std::size_t bytes;
        std::uint64_t notification;
        std::uint64_t cookie;
    };

    /// What comes too late for registered memory is dropped.
    static void land(const Leaving& put) {
        const std::lock_guard registered(registered_mutex_);
        if (put.registration != 0 && registered_.count(put.registration) == 0) {
            return;
        }
        auto* const peer = reinterpret_cast<LooseGroup*>(put.peer.handle);
        const std::lock_guard lock(peer->mutex_);
        if (put.bytes > 0) {
            std::memcpy(reinterpret_cast<void*>(put.target), put.source, put.bytes);
        }
        peer->arrived_.push_back(put.notification);
        peer->changed_.notify_one();
    }

    template <typename T>
    T take_any(std::vector<T>& from) {
        std::swap(from[random_() % from.size()], from.back());
        const T taken = from.back();
        from.pop_back();
        return taken;
    }

    static inline std::mutex registered_mutex_;  // guards the next two; taken before mutex_
    static inline std::set<std::uint64_t> registered_;
    static inline std::uint64_t registrations_ = 0;

    std::minstd_rand random_;
    std::vector<std::unique_ptr<std::byte[]>> memory_;
    std::vector<Leaving> leaving_;
    std::vector<std::uint64_t> completing_;
    bool sleeps_until_woken_ = false;
    std::mutex mutex_;  // guards what follows and, between threads, the bytes that came
    std::condition_variable changed_;
    bool woken_ = false;
    std::vector<std::uint64_t> arrived_;
};

/// One per entry of `ports`.
inline std::vector<std::unique_ptr<PortGroup>> loose_groups(Rank rank,
                                                            std::vector<std::vector<Port>> ports) {
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (const auto& of_group : ports) {
        const auto seed = static_cast<unsigned>(rank * 7 + of_group[0].index + 1);
        groups.push_back(std::make_unique<LooseGroup>(of_group, seed));
    }
    return groups;
}

}  // namespace trefoil::test
