// SPDX-License-Identifier: BSD-3-Clause
// The notification queue: what a writer wrote before, entries that are used again, and a reader
// that sleeps.
#include "tests/weak_order/checked_atomics.hpp"
// The product's files, over them.
#include "backend/ports/notification_queue.cpp"
#include "backend/ports/port_group.cpp"
#include "tests/weak_order/proof.hpp"

namespace trefoil::weak {
namespace {

using memory::NotificationQueue;
using memory::QueueReader;
using memory::QueueWriter;
using memory::SmallPut;

constexpr std::chrono::seconds for_ever{3600};

struct Shared {
    NotificationQueue queue;
    QueueReader reader{queue};
    QueueWriter writer{queue}, other{queue};
    int landing[2] = {};
};

/// Sleeps until a notification comes.
std::uint64_t next(QueueReader& reader) {
    std::uint64_t notification = 0;
    while (!reader.pop(notification, [](const SmallPut& put) { note_read(put.data); })) {
        reader.wait(for_ever);
    }
    return notification;
}

Threads large_put() {
    const auto shared = std::make_shared<Shared>();
    return {[shared] {
                note_write(&shared->landing[0]);
                require(shared->writer.push(5), "there is room");
            },
            [shared] {
                require(next(shared->reader) == 5, "another notification");
                note_read(&shared->landing[0]);
            }};
}

Threads small_put() {
    const auto shared = std::make_shared<Shared>();
    return {[shared] {
                const int bytes = 1;
                require(shared->writer.push(5, 0, 0, &bytes, sizeof bytes), "there is room");
            },
            [shared] { require(next(shared->reader) == 5, "another notification"); }};
}

Threads two_writers() {
    const auto shared = std::make_shared<Shared>();
    const auto write = [shared](QueueWriter& writer, std::size_t own) {
        return [shared, &writer, own] {
            note_write(&shared->landing[own]);
            require(writer.push(own), "there is room");
        };
    };
    return {write(shared->writer, 0), write(shared->other, 1), [shared] {
                const std::uint64_t first = next(shared->reader), second = next(shared->reader);
                require(first + second == 1 && first != second, "a notification lost or twice");
                note_read(&shared->landing[0]);
                note_read(&shared->landing[1]);
            }};
}

/// All entries are taken, and the reader gives one back.
std::shared_ptr<Shared> full_queue() {
    auto shared = std::make_shared<Shared>();
    shared->queue.claimed.store(NotificationQueue::capacity);
    for (memory::NotificationEntry& entry : shared->queue.entries) {
        entry.word.store(std::uint64_t{memory::published_in(0)} << 32);
        entry.put.bytes = 4;
    }
    return shared;
}

Threads entry_used_again(bool asks_for_room) {
    const auto shared = full_queue();
    return {[shared] { next(shared->reader); },
            [shared, asks_for_room] {
                const int bytes = 1;
                if (!asks_for_room || shared->writer.has_room()) {
                    shared->writer.push(5, 0, 0, &bytes, sizeof bytes);
                }
            }};
}

/// The second entry is that of a writer which has ended before it had published anything.
Threads entry_used_again_after_a_death() {
    const auto shared = full_queue();
    constexpr std::uint32_t of_nobody = ~0U;
    shared->queue.entries[1].word.store(std::uint64_t{memory::claimed_in(1)} << 32 | of_nobody);
    return {[shared] {
                next(shared->reader);
                shared->reader.step_over_the_dead();
                require(next(shared->reader) == 0, "the dead hold up the reader");
            },
            [shared] {
                const int bytes = 1;
                shared->writer.push(5, 0, 0, &bytes, sizeof bytes);
            }};
}

Threads woken() {
    const auto shared = std::make_shared<Shared>();
    return {[shared] {
                note_write(&shared->landing[0]);
                shared->reader.wake();
            },
            [shared] {
                while (!shared->reader.wait(for_ever)) {
                }
                note_read(&shared->landing[0]);
            }};
}

TEST(NotificationQueue, EveryOrderingIsNeeded) {
    prove({"backend/ports/notification_queue.hpp", "backend/ports/notification_queue.cpp"},
          {{"a large put", large_put},
           {"a small put", small_put},
           {"two writers", two_writers, {.preemptions = 1, .stale = 1}},
           {"an entry is used again", [] { return entry_used_again(false); }},
           {"an entry is used again, after a look", [] { return entry_used_again(true); }},
           {"an entry is used again, after a death", entry_used_again_after_a_death},
           {"a reader is woken", woken}},
          {{"notification_queue.cpp", "atomic_signal_fence",
            "ring(), for the compiler: that a sleeper sees the store is a matter of time"}});
}

}  // namespace
}  // namespace trefoil::weak
