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
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/backend/ports/silent_group.hpp"

namespace trefoil::test {

class LooseGroup : public SilentGroup, public Waking, public Registering {
  public:
    LooseGroup(const std::vector<Port>& ports, unsigned seed) : SilentGroup(ports), random_(seed) {
        powers_ = {.waking = this, .registering = this};
    }

    /// From now on, and refuses no put without need: nobody would say when to try again.
    void sleep_until_woken(bool is_to = true) { sleeps_until_woken_ = is_to; }
    /// Such sleeps that nobody has ended.
    static inline std::atomic<int> sleeps_in_vain{0};

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
    Peer connect(Port, std::string_view address) override {
        Peer peer;
        std::memcpy(&peer.handle, address.data(), sizeof peer.handle);
        return peer;
    }

    LocalMemory register_memory(void* data, std::size_t bytes) override {
        const std::lock_guard lock(registered_mutex_);
        registered_.insert(++registrations_);
        return {static_cast<std::byte*>(data), bytes, nullptr, registrations_};
    }
    void deregister(const LocalMemory& memory) noexcept override {
        const std::lock_guard lock(registered_mutex_);
        registered_.erase(memory.registration);
    }

    PutResult put(const Put& put) override {
        if ((!sleeps_until_woken_ && random_() % 4 == 0) ||
            leaving_.size() + completing_.size() >= 6) {
            return PutResult::again;
        }
        leaving_.push_back(put);
        return PutResult::queued;
    }

    /// One put at most leaves, any; one completion at most is told, any; arrivals in any order.
    std::size_t poll(std::span<Event> room) override {
        std::size_t count = 0;
        if (!leaving_.empty() && random_() % 2 == 0) {
            const Put put = take_any(leaving_);
            land(put);
            completing_.push_back(put.cookie);
        }
        if (!completing_.empty() && random_() % 2 == 0) {
            room[count++] = {Event::Kind::sent, 0, take_any(completing_)};
        }
        const std::lock_guard lock(mutex_);
        while (!arrived_.empty() && random_() % 4 != 0 && count < room.size()) {
            room[count++] = {Event::Kind::arrived, take_any(arrived_), 0};
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
        for (; !leaving_.empty(); leaving_.pop_front()) {
            land(leaving_.front());
        }
    }

  protected:
    /// What comes too late for registered memory is dropped.
    static void land(const Put& put) {
        const std::lock_guard registered(registered_mutex_);
        if (put.target.key != 0 && registered_.count(put.target.key) == 0) {
            return;
        }
        auto* const peer = reinterpret_cast<LooseGroup*>(put.peer.handle);
        const std::lock_guard lock(peer->mutex_);
        if (put.bytes > 0) {
            std::memcpy(reinterpret_cast<std::byte*>(put.target.base) + put.offset, put.source,
                        put.bytes);
        }
        peer->arrived_.push_back(put.notification);
        peer->changed_.notify_one();
    }

    std::deque<Put> leaving_;
    std::deque<std::uint64_t> completing_;
    std::mutex mutex_;  // guards what has arrived, woken_ and, between threads, the bytes that came
    std::deque<std::uint64_t> arrived_;

  private:
    template <typename T>
    T take_any(std::deque<T>& from) {
        std::swap(from[random_() % from.size()], from.back());
        const T taken = from.back();
        from.pop_back();
        return taken;
    }

    static inline std::mutex registered_mutex_;  // guards the next two; taken before mutex_
    static inline std::set<std::uint64_t> registered_;
    static inline std::uint64_t registrations_ = 0;

    std::minstd_rand random_;
    bool sleeps_until_woken_ = false;
    std::condition_variable changed_;
    bool woken_ = false;
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
