// SPDX-License-Identifier: BSD-3-Clause
// The notification queue: order, fullness, laps, many writers, writers that die, and a reader that
// sleeps.
#include "backend/ports/notification_queue.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace trefoil::memory {
namespace {

using std::chrono::microseconds;
constexpr auto capacity = static_cast<std::uint32_t>(NotificationQueue::capacity);

std::unique_ptr<NotificationQueue> make_queue() {
    return std::make_unique<NotificationQueue>();
}

TEST(NotificationQueue, GivesNotificationsInOrderUntilItIsEmpty) {
    const auto queue = make_queue();
    QueueWriter writer(*queue);
    QueueReader reader(*queue);
    std::uint64_t notification = 9;
    EXPECT_TRUE(reader.empty());
    EXPECT_FALSE(reader.pop(notification));
    for (const std::uint32_t value : {0U, 1U, 0xffffffffU}) {
        EXPECT_TRUE(writer.push(value));
    }
    EXPECT_FALSE(reader.empty());
    for (const std::uint32_t value : {0U, 1U, 0xffffffffU}) {
        ASSERT_TRUE(reader.pop(notification));
        EXPECT_EQ(notification, value);
    }
    EXPECT_TRUE(reader.empty());
    EXPECT_FALSE(reader.pop(notification));
}

TEST(NotificationQueue, CarriesFewBytesAndNothingOfAnEarlierLap) {
    const auto queue = make_queue();
    QueueWriter writer(*queue);
    QueueReader reader(*queue);
    std::vector<std::byte> bytes(SmallPut::most_bytes);
    for (std::uint32_t i = 0; i < 2 * capacity; ++i) {
        const std::size_t length = i < capacity ? i % (SmallPut::most_bytes + 1) : 0;
        std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(i));
        ASSERT_TRUE(writer.push(i, 7, 3 * i, bytes.data(), length));
        std::uint64_t notification = 0;
        std::size_t delivered = 0;
        ASSERT_TRUE(reader.pop(notification, [&](const SmallPut& put) {
            delivered = put.bytes;
            EXPECT_EQ(put.memory, 7U);
            EXPECT_EQ(put.offset, 3 * i);
            EXPECT_TRUE(std::equal(put.data, put.data + put.bytes, bytes.data()));
        }));
        ASSERT_EQ(notification, i);
        ASSERT_EQ(delivered, length);
    }
}

TEST(NotificationQueue, IsFullAtItsCapacityForAllWriters) {
    const auto queue = make_queue();
    QueueWriter first(*queue);
    QueueWriter second(*queue);
    QueueReader reader(*queue);
    for (std::uint32_t i = 0; i < capacity; ++i) {
        ASSERT_TRUE((i % 2 == 0 ? first : second).push(i));
    }
    EXPECT_FALSE(first.has_room());
    EXPECT_FALSE(first.push(1));
    EXPECT_FALSE(second.has_room());
    std::uint64_t notification = 0;
    ASSERT_TRUE(reader.pop(notification));
    EXPECT_TRUE(second.has_room());
    EXPECT_TRUE(first.push(capacity));
    EXPECT_FALSE(second.push(0)) << "the first has taken the room";
    for (std::uint32_t i = 1; i <= capacity; ++i) {
        ASSERT_TRUE(reader.pop(notification));
        EXPECT_EQ(notification, i);
    }
    EXPECT_TRUE(reader.empty());
}

TEST(NotificationQueue, SurvivesTheWrapOfItsLapNumber) {
    const auto queue = make_queue();
    const std::uint64_t lap_limit = std::uint64_t{1} << 31;
    queue->claimed = (lap_limit - 4) * capacity;
    queue->taken = queue->claimed.load();
    for (NotificationEntry& entry : queue->entries) {
        entry.word = std::uint64_t{published_in(queue->taken - 1)} << 32;
    }
    QueueWriter writer(*queue);
    QueueReader reader(*queue);
    std::uint32_t written = 0;
    std::uint64_t notification = 0;
    for (std::uint32_t read = 0; read < 8 * capacity; ++read) {
        while (written < 8 * capacity && writer.push(written)) {
            ++written;
        }
        ASSERT_TRUE(reader.pop(notification));
        ASSERT_EQ(notification, read);
    }
    EXPECT_TRUE(reader.empty());
    EXPECT_GT(queue->taken.load(), lap_limit * capacity);
}

TEST(NotificationQueue, TellsWritersThatTheReaderHasGone) {
    const auto queue = make_queue();
    const QueueWriter writer(*queue);
    EXPECT_FALSE(writer.closed());
    QueueReader(*queue).close();
    EXPECT_TRUE(writer.closed());
}

TEST(NotificationQueue, ManyWritersLoseNothingWhileTheReaderSleeps) {
    constexpr std::uint32_t writers = 4;
    constexpr std::uint32_t each = 10000;
    const auto queue = make_queue();
    std::vector<std::uint32_t> payload(writers *
                                       each);  // plain memory: published by the notifications
    std::vector<std::thread> threads;
    for (std::uint32_t w = 0; w < writers; ++w) {
        threads.emplace_back([&, w] {
            QueueWriter writer(*queue);
            for (std::uint32_t i = 0; i < each; ++i) {
                payload[w * each + i] = i * 3 + w;
                while (!writer.push(w * each + i)) {
                    std::this_thread::yield();
                }
                if (i % 1000 == 0) {
                    std::this_thread::sleep_for(microseconds(50));  // lets the reader fall asleep
                }
            }
        });
    }
    QueueReader reader(*queue);
    std::vector<std::uint32_t> next(writers, 0);
    for (std::uint32_t read = 0; read < writers * each; ++read) {
        std::uint64_t notification = 0;
        while (!reader.pop(notification)) {
            reader.wait(std::chrono::seconds(5));  // a lost wake-up would run into the time limit
        }
        const std::uint64_t w = notification / each;
        ASSERT_LT(w, writers);
        ASSERT_EQ(notification % each, next[w]) << "writer " << w;
        ASSERT_EQ(payload[notification], next[w] * 3 + w);
        ++next[w];
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(reader.empty());
}

/// A queue that this process and its children share.
struct SharedQueue {
    struct Contents {
        NotificationQueue queue;
        std::uint32_t name_of_the_dead = 0;
    };
    Contents* contents = static_cast<Contents*>(
        mmap(nullptr, sizeof(Contents), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    SharedQueue() = default;
    SharedQueue(const SharedQueue&) = delete;
    SharedQueue& operator=(const SharedQueue&) = delete;
    ~SharedQueue() { munmap(contents, sizeof(Contents)); }
};

/// What the reader gets, of what is there or soon stepped over.
std::vector<std::uint64_t> all_that_comes(NotificationQueue& queue) {
    QueueReader reader(queue);
    std::vector<std::uint64_t> all;
    std::uint64_t notification = 0;
    for (int look = 0; look < 3000; ++look) {
        if (reader.pop(notification)) {
            all.push_back(notification);
        }
    }
    return all;
}

/// Executes one instruction of a child that is traced; false: it has stopped by itself, or ended.
bool step(pid_t child) {
    int status = 0;
    return ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 &&
           waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

// The child says that it is another process, which has ended: so its writes up to each instruction
// are those of a writer that was killed there.
TEST(NotificationQueue, SurvivesAWriterThatDiesAtAnyInstruction) {
    if (own_writer_name() == 0) {
        GTEST_SKIP() << "when processes began is not known here, as under an emulator";
    }
    const SharedQueue shared;
    NotificationQueue& queue = shared.contents->queue;
    const pid_t dead = fork();
    if (dead == 0) {
        shared.contents->name_of_the_dead = own_writer_name();
        _exit(0);
    }
    ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
    ASSERT_NE(shared.contents->name_of_the_dead, own_writer_name());
    QueueWriter(queue).push(1);
    const pid_t child = fork();
    if (child == 0) {
        QueueWriter writer(queue, shared.contents->name_of_the_dead);
        const std::array<std::byte, SmallPut::most_bytes> bytes{};
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
            raise(SIGSTOP);
            writer.push(2, 7, 0, bytes.data(), bytes.size());
        }
        raise(SIGSTOP);
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
    std::set<std::vector<std::uint64_t>> seen;
    const auto copy = make_queue();
    int held_up = 0;
    while (step(child)) {
        std::memcpy(static_cast<void*>(copy.get()), &queue, sizeof queue);
        const bool is_claimed = copy->entries[1].word >> 32 == claimed_in(1);
        held_up += is_claimed ? 1 : 0;
        EXPECT_TRUE(QueueWriter(*copy).push(3));
        seen.insert(all_that_comes(*copy));
        if (seen.size() > 3) {
            break;
        }
    }
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (seen.empty()) {
        GTEST_SKIP() << "no process can be traced here";
    }
    EXPECT_GT(held_up, 0) << "no instruction has come behind the claim";
    EXPECT_EQ(seen, (std::set<std::vector<std::uint64_t>>{{1, 3}, {1, 2, 3}}));
}

TEST(NotificationQueue, WaitsForAWriterThatLives) {
    const auto queue = make_queue();
    queue->entries[0].word = std::uint64_t{claimed_in(0)} << 32 | own_writer_name();
    ASSERT_TRUE(QueueWriter(*queue).push(3));
    EXPECT_EQ(queue->claimed, 2U);
    EXPECT_TRUE(all_that_comes(*queue).empty());
    QueueReader reader(*queue);
    reader.wait(microseconds(100));
    EXPECT_EQ(queue->taken, 0U);
}

TEST(NotificationQueue, ASleeperStepsOverTheDead) {
    const auto queue = make_queue();
    queue->entries[0].word = std::uint64_t{claimed_in(0)} << 32 | ~0U;
    QueueReader reader(*queue);
    reader.wait(microseconds(100));
    EXPECT_EQ(queue->taken, 1U);
    ASSERT_TRUE(QueueWriter(*queue).push(3));
    std::uint64_t notification = 0;
    EXPECT_TRUE(reader.pop(notification));
}

TEST(NotificationQueue, WaitReturnsWhenSomethingIsThereOrTimeIsOver) {
    const auto queue = make_queue();
    QueueWriter writer(*queue);
    QueueReader reader(*queue);
    reader.wait(microseconds(0));
    reader.wait(microseconds(-5));
    reader.wait(microseconds(200));
    EXPECT_TRUE(reader.empty());
    writer.push(1);
    reader.wait(std::chrono::hours(24));
    EXPECT_FALSE(reader.empty());
    EXPECT_EQ(queue->asleep.load(), 0U);
}

/// A store that no notification tells of, as the watch sees it.
struct Stored {
    std::atomic<bool> here{false};
    Watch watch() const {
        return {[](const void* stored) { return static_cast<const Stored*>(stored)->here.load(); },
                this};
    }
};

TEST(NotificationQueue, DoesNotSleepWhereTheWatchSeesSomething) {
    const auto queue = make_queue();
    QueueReader reader(*queue);
    Stored stored;
    const auto begin = std::chrono::steady_clock::now();
    reader.wait(microseconds(20'000), stored.watch());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, microseconds(20'000));
    stored.here = true;
    reader.wait(std::chrono::hours(24), stored.watch());
    EXPECT_EQ(queue->asleep.load(), 0U);
}

TEST(NotificationQueue, RingingEndsASleepForAStore) {
    const auto queue = make_queue();
    QueueReader reader(*queue);
    for (int i = 0; i < 200; ++i) {
        Stored stored;
        std::thread sender([&] {
            std::this_thread::sleep_for(microseconds(i % 3 * 100));
            stored.here = true;
            QueueWriter(*queue).ring();
        });
        reader.wait(std::chrono::hours(24), stored.watch());
        EXPECT_TRUE(stored.here);
        sender.join();
    }
    EXPECT_EQ(queue->asleep.load(), 0U);
}

TEST(NotificationQueue, ANotificationEndsASleepWithAWatch) {
    const auto queue = make_queue();
    QueueReader reader(*queue);
    const Stored stored;
    std::thread sender([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        QueueWriter(*queue).push(1);
    });
    reader.wait(std::chrono::hours(24), stored.watch());
    EXPECT_FALSE(reader.empty());
    sender.join();
    std::thread waker([&] { reader.wake(); });
    std::uint64_t notification = 0;
    EXPECT_TRUE(reader.pop(notification));
    EXPECT_TRUE(reader.wait(std::chrono::hours(24), stored.watch()));
    waker.join();
}

}  // namespace
}  // namespace trefoil::memory
