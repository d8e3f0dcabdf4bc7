// SPDX-License-Identifier: BSD-3-Clause
// The notification queue: entries for writers, laps for the reader, a futex for its sleep.
#include "backend/ports/notification_queue.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "topo/process_state.hpp"

namespace trefoil::memory {

namespace {

NotificationEntry& entry_of(NotificationQueue& queue, std::uint64_t ticket) {
    return queue.entries[ticket % NotificationQueue::capacity];
}

// A process is named by its number and the end of the time at which it began: of a thousand that
// get the same number later one is taken for it, and the reader waits on.
constexpr int number_bits = 22;  // the kernel's limit

std::uint32_t name_of(pid_t process, const ProcessState& state) {
    return static_cast<std::uint32_t>(process) | static_cast<std::uint32_t>(state.started)
                                                     << number_bits;
}

bool has_ended(std::uint32_t name) {
    const auto process = static_cast<pid_t>(name & ((1U << number_bits) - 1));
    const ProcessState state = process_state(process);
    return name != 0 && state.known() && (state.ended() || name_of(process, state) != name);
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

std::uint32_t own_writer_name() noexcept {
    static thread_local pid_t process = 0;  // else this is a child
    static thread_local std::uint32_t name = 0;
    if (process != getpid()) {
        process = getpid();
        const ProcessState state = process_state(process);
        name = state.known() && !state.ended() ? name_of(process, state) : 0;
    }
    return name;
}

/// Whether the reader has given back the ticket's entry.
bool QueueWriter::may_claim(std::uint64_t ticket) {
    if (ticket < known_taken_ + NotificationQueue::capacity) {
        return true;
    }
    // Pairs with the release in give_back(): the reader is done with the entries before.
    known_taken_ = queue_->taken.load(std::memory_order_acquire);
    return ticket < known_taken_ + NotificationQueue::capacity;
}

bool QueueWriter::has_room() {
    return may_claim(queue_->claimed.load(std::memory_order_relaxed));
}

/// The first ticket that nobody has, and its entry with it; false: the queue is full. Relaxed: this
/// only divides entries among writers; the entry itself publishes. Tickets are claimed one by one,
/// so the entry of one that is free is of the lap before.
bool QueueWriter::claim(std::uint64_t& ticket) {
    std::uint64_t seen = queue_->claimed.load(std::memory_order_relaxed);
    for (ticket = std::max(seen, known_taken_); may_claim(ticket);
         ticket = std::max(ticket + 1, seen)) {
        std::atomic<std::uint64_t>& word = entry_of(*queue_, ticket).word;
        std::uint64_t now = word.load(std::memory_order_relaxed);
        if ((now >> 32 | 1) == claimed_in(ticket - NotificationQueue::capacity) &&
            word.compare_exchange_strong(now, std::uint64_t{claimed_in(ticket)} << 32 | name_,
                                         std::memory_order_relaxed)) {
            // Fails where another writer has come further.
            queue_->claimed.compare_exchange_strong(seen, ticket + 1, std::memory_order_relaxed);
            return true;
        }
        seen = queue_->claimed.load(std::memory_order_relaxed);
    }
    return false;
}

bool QueueWriter::push(std::uint64_t notification, std::uint64_t memory, std::uint64_t offset,
                       const void* source, std::size_t bytes, std::uint32_t mark) {
    std::uint64_t ticket = 0;
    if (!claim(ticket)) {
        return false;
    }
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
    entry.word.store(std::uint64_t{published_in(ticket)} << 32 | (notification & 0xffffffffU),
                     std::memory_order_seq_cst);
    if (queue_->asleep.load(std::memory_order_seq_cst) != 0 &&
        queue_->asleep.exchange(0, std::memory_order_relaxed) != 0) {
        futex(queue_->asleep, FUTEX_WAKE, 1, nullptr);
    }
    return true;
}

bool QueueReader::empty() const {
    return entry_of(*queue_, next_).word.load(std::memory_order_seq_cst) >> 32 !=
           published_in(next_);
}

void QueueReader::step_over_the_dead() noexcept {
    const std::uint64_t word = entry_of(*queue_, next_).word.load(std::memory_order_relaxed);
    if (word >> 32 == claimed_in(next_) && has_ended(static_cast<std::uint32_t>(word))) {
        give_back();
    }
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
    step_over_the_dead();
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
