// SPDX-License-Identifier: BSD-3-Clause
// The notifications of a port group in shared memory: a bounded queue of many writers and one
// reader, with a doorbell for a reader that sleeps. Small puts travel in it. Threads and processes
// alike.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "backend/ports/powers.hpp"
#include "topo/cache_line.hpp"

namespace trefoil::memory {

/// A put of few bytes, as it travels in its notification's entry.
struct SmallPut {
    static constexpr std::size_t most_bytes = 32;  ///< an entry has 64 bytes

    std::uint32_t bytes;              ///< 0: the entry has the notification only; or a mark
    std::uint32_t notification_high;  ///< its upper half
    std::uint64_t memory;             ///< what the reader calls the memory
    std::uint64_t offset;
    std::byte data[most_bytes];
};

/// Landings::landing() in memory that is mapped here. Small puts do not go there by themselves.
inline std::byte* mapped_landing(const RemoteMemory& target, std::uint64_t offset,
                                 std::size_t bytes) {
    const bool inside = bytes <= target.bytes && offset <= target.bytes - bytes;
    return inside && bytes > SmallPut::most_bytes
               ? reinterpret_cast<std::byte*>(target.base) + offset
               : nullptr;
}

/// In one cache line: a small put takes no other on its way. On A64FX four entries share a line: a
/// writer and the reader of neighbours may meet there, but a burst of notifications travels in a
/// quarter of the lines.
struct alignas(64) NotificationEntry {
    std::atomic<std::uint64_t> word;  ///< see NotificationQueue
    SmallPut put;
};
static_assert(sizeof(NotificationEntry) == 64);

/// Lies in memory that all writers map; all zeros is an empty queue. Only lock-free atomics cross
/// the border between processes.
///
/// Entry i is written once in each lap n (counting from 1): the tickets of its laps are i, i +
/// `capacity`, and so on. Its word says in the upper half in which lap it is, and whether a writer
/// has claimed it or has published what it holds; in the lower half, which writer, or the
/// notification's lower half. So one store publishes all and nobody has to clear entries: what an
/// earlier lap left never matches. The reader tells by `taken` how far it has come; a writer that
/// knows an old value only believes the queue to be fuller than it is.
///
/// A writer may be killed wherever it is. What claims an entry names its writer, so the reader
/// finds out whether it waits for nobody, and steps over. `claimed` only tells where to look for an
/// entry that nobody has claimed: those before it have been.
struct NotificationQueue {
    static constexpr std::uint64_t capacity = 1024;  ///< notifications that wait for the reader
    static constexpr std::size_t apart = cache_lines_apart;

    alignas(apart) std::atomic<std::uint64_t> claimed;  ///< so many tickets at least
    alignas(apart)
        std::atomic<std::uint64_t> taken;  ///< notifications read; written by the reader only
    alignas(apart) std::atomic<std::uint32_t> asleep;  ///< 1: the reader sleeps (a futex)
    std::atomic<std::uint32_t> closed;                 ///< 1: the reader has gone
    alignas(apart) NotificationEntry entries[capacity];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The upper half of an entry's word when the ticket's notification is there, and when a writer has
/// claimed the entry for it.
constexpr std::uint32_t published_in(std::uint64_t ticket) {
    return static_cast<std::uint32_t>(ticket / NotificationQueue::capacity + 1) << 1;
}
constexpr std::uint32_t claimed_in(std::uint64_t ticket) {
    return published_in(ticket) | 1;
}

/// This process, as entries name their writers to a reader that knows it by the same number. 0, as
/// for all others: nobody can tell whether it has ended.
std::uint32_t own_writer_name() noexcept;

/// A writer's end. One per (writing group, queue); not thread-safe itself.
class QueueWriter {
  public:
    explicit QueueWriter(NotificationQueue& queue, std::uint32_t name = own_writer_name())
        : queue_(&queue), name_(name) {}

    /// True when there is room for one notification more; other writers may take it before push().
    bool has_room();
    /// Appends `notification` and wakes the reader if it sleeps; false: full. What this thread
    /// wrote before is visible to the reader that gets the notification.
    bool push(std::uint64_t notification) { return push(notification, 0, 0, nullptr, 0); }
    /// The same with up to SmallPut::most_bytes bytes, which pop() hands out with the notification.
    bool push(std::uint64_t notification, std::uint64_t memory, std::uint64_t offset,
              const void* source, std::size_t bytes) {
        return push(notification, memory, offset, source, bytes, static_cast<std::uint32_t>(bytes));
    }
    /// The same, but pop() finds `mark`, not 0, in SmallPut::bytes: these are no bytes of a put.
    bool push_marked(std::uint64_t notification, std::uint64_t memory, std::uint64_t offset,
                     const void* source, std::size_t bytes, std::uint32_t mark) {
        return push(notification, memory, offset, source, bytes, mark);
    }

    bool closed() const { return queue_->closed.load(std::memory_order_relaxed) != 0; }
    /// Storing::ring().
    void ring();

  private:
    bool push(std::uint64_t notification, std::uint64_t memory, std::uint64_t offset,
              const void* source, std::size_t bytes, std::uint32_t mark);
    bool may_claim(std::uint64_t ticket);
    bool claim(std::uint64_t& ticket);

    NotificationQueue* queue_;
    std::uint32_t name_;
    std::uint64_t known_taken_ = 0;
};

/// The reader's end; there is one. Not thread-safe, but for wake().
class QueueReader {
  public:
    explicit QueueReader(NotificationQueue& queue)
        : queue_(&queue), next_(queue.taken.load(std::memory_order_relaxed)) {}

    /// Takes the next notification; false: there is none. What its writer wrote before is visible.
    /// If it carries bytes, `deliver` is called first with the SmallPut, which is gone afterwards.
    template <typename Deliver>
    bool pop(std::uint64_t& notification, Deliver&& deliver) {
        const NotificationEntry& entry = queue_->entries[next_ % NotificationQueue::capacity];
        const std::uint64_t word = entry.word.load(std::memory_order_acquire);
        if (word >> 32 != published_in(next_)) {
            if (word >> 32 == claimed_in(next_) && ++held_up_ % patience == 0) [[unlikely]] {
                step_over_the_dead();
            }
            return false;
        }
        notification = std::uint64_t{entry.put.notification_high} << 32 | (word & 0xffffffffU);
        if (entry.put.bytes > 0) {
            deliver(entry.put);
        }
        give_back();
        return true;
    }
    /// For notifications that carry no bytes, or bytes that do not matter.
    bool pop(std::uint64_t& notification) {
        return pop(notification, [](const SmallPut&) {});
    }
    bool empty() const;
    /// Goes on behind an entry whose writer has claimed it and has ended. It takes a look at the
    /// process, so pop() does it when many looks have been in vain, and wait() when it was.
    void step_over_the_dead() noexcept;
    /// Sleeps until a notification may be there, wake() is called, the watch has seen something or
    /// `longest` has passed; true: woken.
    bool wait(std::chrono::microseconds longest, const Watch& watch = {});
    /// Ends the reader's wait(), or its next one. From any thread of the reader's process.
    void wake();
    void close() { queue_->closed.store(1, std::memory_order_relaxed); }

  private:
    static constexpr std::uint32_t patience = 1024;

    /// The next entry may be claimed again. Pairs with may_claim().
    void give_back() noexcept { queue_->taken.store(++next_, std::memory_order_release); }

    NotificationQueue* queue_;
    std::uint64_t next_;         ///< equals `taken`, without a look at the shared line
    std::uint32_t held_up_ = 0;  ///< looks at an entry that was claimed only
    std::atomic<bool> woken_{false};
};

}  // namespace trefoil::memory
