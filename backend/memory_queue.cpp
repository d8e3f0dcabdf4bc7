// SPDX-License-Identifier: BSD-3-Clause
// The notice queue: tickets for writers, laps for the reader, a futex for its sleep.
#include "backend/memory_queue.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace trefoil::memory {

namespace {

std::uint64_t lap_of(std::uint64_t ticket) {
    return (ticket / NoticeQueue::capacity + 1) & 0xffffffffU;
}

std::atomic<std::uint64_t>& entry_of(NoticeQueue& queue, std::uint64_t ticket) {
    return queue.entries[ticket % NoticeQueue::capacity];
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
    if (claimed - known_taken_ < NoticeQueue::capacity) {
        return true;
    }
    // Pairs with the release in pop(): the reader is done with the entries that it gives back.
    known_taken_ = queue_->taken.load(std::memory_order_acquire);
    return claimed - known_taken_ < NoticeQueue::capacity;
}

bool QueueWriter::push(std::uint32_t notice) {
    std::uint64_t ticket = queue_->claimed.load(std::memory_order_relaxed);
    do {
        if (ticket - known_taken_ >= NoticeQueue::capacity) {
            known_taken_ = queue_->taken.load(std::memory_order_acquire);  // as in has_room()
            if (ticket - known_taken_ >= NoticeQueue::capacity) {
                return false;
            }
        }
        // Relaxed: the ticket only divides entries among writers; the entry itself publishes.
    } while (!queue_->claimed.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed));
    // Pairs with the acquire in pop(). Sequentially consistent together with the next line, and
    // with the two in wait(): either we see the reader asleep, or it sees the entry.
    entry_of(*queue_, ticket).store(lap_of(ticket) << 32 | notice, std::memory_order_seq_cst);
    if (queue_->asleep.load(std::memory_order_seq_cst) != 0 && queue_->asleep.exchange(0) != 0) {
        futex(queue_->asleep, FUTEX_WAKE, 1, nullptr);
    }
    return true;
}

bool QueueReader::pop(std::uint32_t& notice) {
    const std::uint64_t entry = entry_of(*queue_, next_).load(std::memory_order_acquire);
    if (entry >> 32 != lap_of(next_)) {
        return false;
    }
    notice = static_cast<std::uint32_t>(entry);
    ++next_;
    queue_->taken.store(next_, std::memory_order_release);  // pairs with has_room() and push()
    return true;
}

bool QueueReader::empty() const {
    return entry_of(*queue_, next_).load(std::memory_order_seq_cst) >> 32 != lap_of(next_);
}

void QueueReader::wait(std::chrono::microseconds longest) {
    if (longest.count() <= 0) {
        return;
    }
    queue_->asleep.store(1, std::memory_order_seq_cst);
    if (empty()) {
        // A writer ends this, or the time. If one came since, `asleep` is 0 and it returns at once.
        const timespec limit{static_cast<std::time_t>(longest.count() / 1000000),
                             static_cast<long>(longest.count() % 1000000) * 1000};
        futex(queue_->asleep, FUTEX_WAIT, 1, &limit);
    }
    queue_->asleep.store(0, std::memory_order_relaxed);
}

}  // namespace trefoil::memory
