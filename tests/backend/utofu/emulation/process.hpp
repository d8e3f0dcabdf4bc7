// SPDX-License-Identifier: BSD-3-Clause
// One process of the emulated machine: its queues and registrations, and an engine that moves
// bytes. The engine is a thread; calls of uTofu help it, so that little waits for the scheduler.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "backend/utofu/utofu_interface.hpp"
#include "tests/backend/utofu/emulation/inbox.hpp"
#include "tests/backend/utofu/emulation/options.hpp"

namespace emulated_tofu {

/// The way of a vcq_id: generation 16, place of the process 16, interface 8, queue 8, component 8
/// bits, and whether a path was set.
std::uint64_t make_vcq_id(const Inbox& inbox, unsigned interface, unsigned component);
constexpr std::uint64_t path_bit = 1;
constexpr unsigned place_of(std::uint64_t id) {
    return id >> 32 & 0xffffU;
}
constexpr auto generation_of(std::uint64_t id) {
    return static_cast<std::uint16_t>(id >> 48);
}

/// A put, or an operation on a word, that a queue of puts holds.
struct Descriptor {
    Packet packet;
    std::uint64_t source = 0;  ///< stadd; 0: `inlined`
    std::vector<std::byte> inlined;
    unsigned long flags = 0;
    void* data = nullptr;
    std::uint64_t sent = 0;  ///< bytes that have left
    unsigned delay = 0;      ///< looks until the source is read
    unsigned report_delay = 0;
    bool read = false;  ///< the source may be reused
    int code = 0;
};

struct Registration {
    std::uint64_t queue = 0;  ///< handle
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::uint64_t stadd = 0;
    bool read_only = false;
};

struct MrqEntry {
    utofu_mrq_notice notice{};
    int code = 0;
};

/// A virtual control queue.
struct Vcq {
    std::uint64_t id = 0;
    unsigned interface = 0, component = 0;
    bool thread_safe = false;
    std::deque<std::pair<void*, int>> completions;
    std::deque<MrqEntry> notices;
};

/// What virtual control queues of one interface share.
struct HardwareQueue {
    std::deque<Descriptor> puts;
    std::size_t unread = 0;  ///< notices
    std::set<unsigned> components;
    std::atomic<int> inside{0};  ///< thread
    std::atomic<int> unsafe{0};  ///< virtual control queues without THREAD_SAFE
    int owner = 0;               ///< thread, for strict_threads
    std::uint64_t free_at = 0;   ///< when the link is, with latency
};

class Process {
  public:
    /// Made at the first call; a child after fork() gets its own.
    static Process& current();

    const Options options;
    std::mutex mutex;  ///< guards all below but HardwareQueue::inside
    std::mt19937_64 random;
    std::unique_ptr<Inbox> inbox;
    std::vector<HardwareQueue> queues;
    std::map<std::uint64_t, Vcq> vcqs;                    ///< by handle
    std::map<std::uint64_t, Registration> registrations;  ///< by number
    std::uint64_t last_handle = 0, last_registration = 0, last_put = 0;

    bool chance(unsigned percent) { return random() % 100 < percent; }
    /// How many looks something waits.
    unsigned draw_delay();
    Vcq* vcq_of(std::uint64_t handle);
    /// The registration that holds all of it; null: none does.
    const Registration* find(std::uint64_t stadd, std::uint64_t bytes) const;
    /// Moves what can be moved; true: something did. With the lock.
    bool step();
    void start_engine();
    void wake_engine() { inbox->ring(); }
    /// A put that this queue's owner has accepted: from when on it is under way.
    std::uint64_t due_time(unsigned interface, std::uint64_t to, std::uint64_t bytes);

  private:
    /// From one virtual control queue to another one: what is in strong order.
    struct Flow {
        std::deque<Delivery> packets;
        std::deque<std::pair<std::uint64_t, MrqEntry>> notices;  ///< for a vcq_id
        unsigned packet_delay = 0, notice_delay = 0;
    };
    struct Landing {
        std::uint64_t left = 0;
        bool failed = false;
    };
    struct Asked {
        std::uint64_t from = 0, to = 0, edata = 0;
        std::uint8_t type = 0;
    };

    /// A process that was sent something, and what last of which no answer tells.
    struct Peer {
        std::unique_ptr<Inbox> inbox;
        Asked last;
        std::deque<Delivery> on_the_way;  ///< that found no room: the network takes them in
        std::size_t bytes = 0;            ///< of those
        bool ended = false;               ///< and all that it sent was taken from the inbox
        bool told = false;                ///< that it has died
    };

    explicit Process(Options read);
    void run_engine();
    Inbox* peer(std::uint64_t id);
    bool send_all();
    bool send(Descriptor& put);
    bool push(const Packet& packet, const std::byte* data, bool& lost);
    bool push_on(Peer& to);
    void fail_put(const Descriptor& put, int code);
    bool receive_all();
    void receive(Delivery delivery);
    bool apply_some();
    void apply(const Delivery& delivery);
    int write(const Packet& packet, const std::vector<std::byte>& data, std::uint64_t& old);
    void notify(const Packet& packet, std::uint64_t value);
    void answer(const Packet& packet, int code, std::uint64_t value);
    void take_answer(const Packet& packet);
    void deliver(std::uint64_t id, const MrqEntry& entry);
    Vcq* vcq_with_id(std::uint64_t id);
    bool look_for_the_dead();
    bool take_in_last_packets();
    bool is_over(std::uint64_t id) const;
    void tell_death(const Asked& put);
    void tell_leaks();
    friend void tell_leaks_at_exit();

    std::map<std::pair<unsigned, unsigned>, Peer> peers_;  ///< by place and generation
    std::map<std::pair<std::uint64_t, std::uint64_t>, Flow> flows_;
    std::vector<std::pair<unsigned, Delivery>> unordered_;  ///< with delays
    std::vector<std::pair<unsigned, std::pair<std::uint64_t, MrqEntry>>> unordered_notices_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, Landing> landing_;  ///< by sender and put
    std::deque<Packet> answers_;                                          ///< that found no room
    std::map<std::uint64_t, Asked> asked_;                                ///< by put
    std::uint64_t looked_for_dead_ = 0;
    bool engine_runs_ = false;
};

/// Whoever is inside a call that uses a queue of the hardware: two threads at once abort.
class Inside {
  public:
    Inside(Process& process, unsigned interface, bool thread_safe);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

  private:
    HardwareQueue& queue_;
    bool entered_ = false;
};

}  // namespace emulated_tofu
