// SPDX-License-Identifier: BSD-3-Clause
// The notices of a port group in shared memory: a bounded queue of many writers and one reader,
// with a doorbell for a reader that sleeps. Threads and processes alike.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace trefoil::memory {

/// Lies in memory that all writers map; all zeros is an empty queue. Only lock-free atomics cross
/// the border between processes.
///
/// Entry i of lap n (counting from 1) holds n in its upper and the notice in its lower half, so one
/// store publishes both and nobody has to clear entries: what an earlier lap left never matches.
/// The reader tells by `taken` how far it has come; a writer that knows an old value only believes
/// the queue to be fuller than it is.
struct NoticeQueue {
    static constexpr std::uint64_t capacity = 4096;  ///< notices that wait for the reader

    alignas(64) std::atomic<std::uint64_t> claimed;  ///< tickets given to writers
    alignas(64) std::atomic<std::uint64_t> taken;    ///< notices read; written by the reader only
    alignas(64) std::atomic<std::uint32_t> asleep;   ///< 1: the reader sleeps (a futex)
    std::atomic<std::uint32_t> closed;               ///< 1: the reader has gone
    alignas(64) std::atomic<std::uint64_t> entries[capacity];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A writer's end. One per (writing group, queue); not thread-safe itself.
class QueueWriter {
  public:
    explicit QueueWriter(NoticeQueue& queue) : queue_(&queue) {}

    /// True when there is room for one notice more; other writers may take it before push().
    bool has_room();
    /// Appends `notice` and wakes the reader if it sleeps; false: full. What this thread wrote
    /// before is visible to the reader that gets the notice.
    bool push(std::uint32_t notice);

    bool closed() const { return queue_->closed.load(std::memory_order_relaxed) != 0; }

  private:
    NoticeQueue* queue_;
    std::uint64_t known_taken_ = 0;
};

/// The reader's end; there is one. Not thread-safe.
class QueueReader {
  public:
    explicit QueueReader(NoticeQueue& queue)
        : queue_(&queue), next_(queue.taken.load(std::memory_order_relaxed)) {}

    /// Takes the next notice; false: there is none. What its writer wrote before is visible.
    bool pop(std::uint32_t& notice);
    bool empty() const;
    /// Sleeps until a notice may be there or `longest` has passed.
    void wait(std::chrono::microseconds longest);
    void close() { queue_->closed.store(1, std::memory_order_relaxed); }

  private:
    NoticeQueue* queue_;
    std::uint64_t next_;  ///< equals `taken`, without a look at the shared line
};

}  // namespace trefoil::memory
