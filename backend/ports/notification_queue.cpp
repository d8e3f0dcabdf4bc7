// SPDX-License-Identifier: BSD-3-Clause
// The notification queue: tickets for writers, laps for the reader, a futex for its sleep.
#include "backend/ports/notification_queue.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>

namespace trefoil::memory {

namespace {

NotificationEntry& entry_of(NotificationQueue& queue, std::uint64_t ticket) {
    return queue.entries[ticket % NotificationQueue::capacity];
}

/// A store is seen by others sooner than this, as a rule: it waits for its cache line only.
constexpr std::chrono::microseconds store_is_seen{1};

bool sees_soon(const Watch& watch) {
    using Clock = std::chrono::steady_clock;
    if (watch.has_come == nullptr) {
        return false;
    }
    const Clock::time_point end = Clock::now() + store_is_seen;
    do {
        if (watch()) {
            return true;
        }
    } while (Clock::now() < end);
    return false;
}

// Not the private kind: the other side may be another process.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* longest) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, longest, nullptr,
            0);
}

}  // namespace

bool QueueWriter::has_room() {
    const std::uint64_t claimed = queue_->claimed.load(std::memory_order_relaxed);
    if (claimed - known_taken_ < NotificationQueue::capacity) {
        return true;
    }
    // Pairs with the release in pop(): the reader is done with the entries that it gives back.
    known_taken_ = queue_->taken.load(std::memory_order_acquire);
    return claimed - known_taken_ < NotificationQueue::capacity;
}

bool QueueWriter::push(std::uint64_t notification, std::uint64_t memory, std::uint64_t offset,
                       const void* source, std::size_t bytes, std::uint32_t mark) {
    std::uint64_t ticket = queue_->claimed.load(std::memory_order_relaxed);
    do {
        if (ticket - known_taken_ >= NotificationQueue::capacity) {
            known_taken_ = queue_->taken.load(std::memory_order_acquire);  // as in has_room()
            if (ticket - known_taken_ >= NotificationQueue::capacity) {
                return false;
            }
        }
        // Relaxed: the ticket only divides entries among writers; the entry itself publishes.
    } while (!queue_->claimed.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed));
    NotificationEntry& entry = entry_of(*queue_, ticket);
    entry.put.bytes = mark;
    entry.put.notification_high = static_cast<std::uint32_t>(notification >> 32);
    if (bytes > 0) {
        entry.put.memory = memory;
        entry.put.offset = offset;
        std::memcpy(entry.put.data, source, bytes);
    }
    // Pairs with the acquire in pop(). Sequentially consistent together with the next line, and
    // with the two in wait(): either we see the reader asleep, or it sees the entry. The exchange
    // only says who of several wakes it.
    entry.published.store(lap_of(ticket) << 32 | (notification & 0xffffffffU),
                          std::memory_order_seq_cst);
    if (queue_->asleep.load(std::memory_order_seq_cst) != 0 &&
        queue_->asleep.exchange(0, std::memory_order_relaxed) != 0) {
        futex(queue_->asleep, FUTEX_WAKE, 1, nullptr);
    }
    return true;
}

bool QueueReader::empty() const {
    return entry_of(*queue_, next_).published.load(std::memory_order_seq_cst) >> 32 !=
           lap_of(next_);
}

// A writer, wake() or the time ends a sleep. If one of them came after `asleep` was set, it is 0
// and the futex returns at once. Who rings may have looked at `asleep` before his store was seen
// here, and then does not ring. So the watch is asked for a while after `asleep` was set; and, as
// nothing says how long a store may take, again in slices.
bool QueueReader::wait(std::chrono::microseconds longest, const Watch& watch) {
    using Clock = std::chrono::steady_clock;
    if (longest.count() <= 0) {
        return false;
    }
    const bool in_slices = watch.has_come != nullptr;
    const std::chrono::microseconds slice =
        in_slices ? std::min(nap_slice(longest), longest) : longest;
    const Clock::time_point deadline = in_slices ? Clock::now() + longest : Clock::time_point{};
    bool over = false;
    while (!over) {
        queue_->asleep.store(1, std::memory_order_seq_cst);
        over = !empty() || woken_.load(std::memory_order_seq_cst) || sees_soon(watch);
        if (!over) {
            const timespec limit{static_cast<std::time_t>(slice.count() / 1000000),
                                 static_cast<long>(slice.count() % 1000000) * 1000};
            futex(queue_->asleep, FUTEX_WAIT, 1, &limit);
            over = !in_slices || !empty() || woken_.load(std::memory_order_relaxed) || watch() ||
                   Clock::now() >= deadline;
        }
    }
    queue_->asleep.store(0, std::memory_order_relaxed);
    return woken_.exchange(false, std::memory_order_acquire);
}

void QueueWriter::ring() {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the store before is on its way
    if (queue_->asleep.load(std::memory_order_relaxed) != 0 &&
        queue_->asleep.exchange(0, std::memory_order_relaxed) != 0) {
        futex(queue_->asleep, FUTEX_WAKE, 1, nullptr);
    }
}

// Sequentially consistent like the two in wait(), as in push(): either we see the reader asleep, or
// it sees that it is woken.
void QueueReader::wake() {
    woken_.store(true, std::memory_order_seq_cst);
    if (queue_->asleep.load(std::memory_order_seq_cst) != 0 &&
        queue_->asleep.exchange(0, std::memory_order_relaxed) != 0) {
        futex(queue_->asleep, FUTEX_WAKE, 1, nullptr);
    }
}

}  // namespace trefoil::memory
