// SPDX-License-Identifier: BSD-3-Clause
// The promises of backend/ports/port_group.hpp, tested on every transport.
#include "tests/backend/ports/conformance.hpp"

#include <atomic>
#include <mutex>
#include <thread>

namespace trefoil::conformance {

namespace {

constexpr std::size_t sizes[] = {0, 1, 8, 1000, 64 << 10, 1 << 20};
constexpr std::size_t size_count = std::size(sizes);

/// A notification by its lower half; the upper half has all bits in use.
std::uint64_t with_upper_half(std::uint32_t number) {
    return std::uint64_t{~(number * 0x9e3779b9U)} << 32 | number;
}

}  // namespace

TEST_P(Conformance, MemoryIsZeroedAlignedAndWritable) {
    BackendConfig config;
    config.provider = GetParam().provider;
    config.groups = {{Port{0}, Port{1}}, {Port{2}}};
    const auto groups = open_backend(GetParam().backend, config);
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0]->ports(), config.groups[0]);
    EXPECT_EQ(groups[1]->ports(), config.groups[1]);
    EXPECT_FALSE(groups[0]->port_text(Port{1}).empty());
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{100001}}) {
        const LocalMemory memory = groups[0]->allocate(bytes);
        ASSERT_NE(memory.data, nullptr);
        ASSERT_GE(memory.bytes, bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data) % 4096, 0U);
        for (std::size_t i = 0; i < bytes; ++i) {
            ASSERT_EQ(memory.data[i], std::byte{0}) << "byte " << i;
        }
        fill(memory.data, bytes, 3);
        EXPECT_EQ(first_wrong(memory.data, bytes, 3), bytes);
    }
}

TEST_P(Conformance, EverySizeIsWholeWhenItsNotificationArrives) {
    constexpr std::size_t room = (1 << 20) + 256;
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, room);
        Driver& driver = *drivers[0];
        const Rank other = 1 - node.rank();
        for (std::uint32_t k = 0; k < size_count; ++k) {
            const std::size_t bytes = sizes[k];
            const std::size_t to = 64 + k;
            fill(driver.outbox(), bytes, 10 * k + node.rank());
            // The other rank's put of this size may land before our own is posted.
            driver.put(node, Port{0}, other, 0, to, bytes, 0xfffffff0U + k);
            EXPECT_EQ(driver.next_notification(node), 0xfffffff0U + k);
            EXPECT_EQ(first_wrong(driver.inbox() + to, bytes, 10 * k + other), bytes)
                << "of a put of " << bytes << " bytes to rank " << node.rank();
            driver.flush(node);
            node.allgather({}, [&] { driver.poll(); });
        }
        // Nothing was written outside: the first bytes, and those behind the largest put.
        for (std::size_t i = 0; i < 64; ++i) {
            EXPECT_EQ(driver.inbox()[i], std::byte{0});
        }
        for (std::size_t i = 64 + size_count + (1 << 20); i < room; ++i) {
            EXPECT_EQ(driver.inbox()[i], std::byte{0});
        }
        finish(node, drivers);
    });
}

TEST_P(Conformance, UnregisteredSourcesWorkWhereTheyAreAllowed) {
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, 8192);
        PortGroup& group = drivers[0]->group();
        // A private copy: describe, exchange, and put without a descriptor.
        std::vector<std::byte> source(5000);
        fill(source.data(), source.size(), node.rank());
        const std::string address = group.address(Port{1});
        const std::string inbox = group.describe(drivers[0]->inbox_memory());
        const auto addresses = node.allgather(address);
        const auto inboxes = node.allgather(inbox);
        const Rank other = 1 - node.rank();
        const Peer peer = group.connect(Port{0}, addresses[other]);
        const RemoteMemory target = group.import_memory(inboxes[other]);
        EXPECT_GE(target.bytes, 8192U);
        if (!group.traits().needs_registered_source) {
            bool sent = false;
            bool arrived = false;
            const auto poll = [&] {
                node.check();
                Event events[4];
                const std::size_t count = group.poll(events);
                for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_NE(events[i].kind, Event::Kind::failed) << group.error_text();
                    (events[i].kind == Event::Kind::sent ? sent : arrived) = true;
                }
            };
            const auto exchange = [&](const std::byte* from, std::size_t offset) {
                sent = arrived = false;
                const auto put = [&] {
                    return group.put({.port = Port{0},
                                      .peer = peer,
                                      .source = from,
                                      .target = target,
                                      .offset = offset,
                                      .bytes = source.size(),
                                      .notification = 77,
                                      .cookie = 1});
                };
                PutResult result = put();
                while (result == PutResult::again) {
                    poll();
                    result = put();
                }
                ASSERT_NE(result, PutResult::failed) << group.error_text();
                while ((result == PutResult::queued && !sent) || !arrived) {
                    poll();
                }
                EXPECT_EQ(first_wrong(drivers[0]->inbox() + offset, source.size(), other),
                          source.size());
            };
            exchange(source.data(), 1);
            node.allgather({}, poll);
            // What is gathered where it will land arrives as well, where there is such a place.
            if (const Landings* const landings = group.landings()) {
                if (std::byte* const place = landings->landing(peer, target, 64, source.size())) {
                    fill(place, source.size(), node.rank());
                    exchange(place, 64);
                }
                EXPECT_EQ(landings->landing(peer, target, target.bytes - 100, source.size()),
                          nullptr);
            }
        }
        finish(node, drivers);
    });
}

TEST_P(Conformance, ManyPutsInFlightBothWaysAllArriveOnce) {
    static constexpr std::uint32_t puts = 6000;  // more than any queue holds
    static constexpr std::size_t bytes = 40;
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, puts * bytes);
        Driver& driver = *drivers[0];
        const Rank other = 1 - node.rank();
        for (std::uint32_t i = 0; i < puts; ++i) {
            fill(driver.outbox() + i * bytes, bytes, i + 1000 * node.rank());
            driver.put(node, Port{static_cast<int>(i % 2)}, other, i * bytes, i * bytes, bytes,
                       with_upper_half(i));
        }
        std::vector<bool> seen(puts, false);
        for (std::uint32_t i = 0; i < puts; ++i) {
            const std::uint64_t bits = driver.next_notification(node);
            const auto notification = static_cast<std::uint32_t>(bits);
            ASSERT_LT(notification, puts);
            if (driver.group().traits().notification_bits == 64) {
                EXPECT_EQ(bits, with_upper_half(notification));
            }
            EXPECT_FALSE(seen[notification]) << "notification " << notification << " arrived twice";
            seen[notification] = true;
            EXPECT_EQ(first_wrong(driver.inbox() + notification * bytes, bytes,
                                  notification + 1000 * other),
                      bytes)
                << "of put " << notification;
        }
        finish(node, drivers);
    });
}

TEST_P(Conformance, WhatIsDoneOrSentArrivesWithoutItsSender) {
    static constexpr std::uint32_t rounds = 60;
    static constexpr std::size_t bytes = 5000;
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, rounds * bytes);
        Driver& driver = *drivers[0];
        for (std::uint32_t round = 0; round < rounds; ++round) {
            const std::size_t size = round % 3 == 0 ? 0 : round % 3 == 1 ? 24 : bytes;
            if (node.rank() == 0) {
                fill(driver.outbox() + round * bytes, size, round);
                driver.put(node, Port{0}, 1, round * bytes, round * bytes, size, round);
                driver.flush(node);
                node.allgather({});  // does not poll until the peer has it
            } else {
                EXPECT_EQ(driver.next_notification(node), round);
                EXPECT_EQ(first_wrong(driver.inbox() + round * bytes, size, round), size);
                node.allgather({}, [&] { driver.poll(); });
            }
        }
        finish(node, drivers);
    });
}

TEST_P(Conformance, SourcesAreFreeWhenDoneOrSent) {
    static constexpr std::uint32_t rounds = 200;
    static constexpr std::size_t bytes = 5000;
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, rounds * bytes);
        Driver& driver = *drivers[0];
        const Rank other = 1 - node.rank();
        const auto size_of = [](std::uint32_t round) { return round % 2 == 0 ? bytes : 100; };
        for (std::uint32_t round = 0; round < rounds; ++round) {
            // No answer tells that the put before has gone.
            fill(driver.outbox(), bytes, round + 1000 * node.rank());
            driver.put(node, Port{0}, other, 0, round * bytes, size_of(round), round);
            driver.flush(node);
        }
        fill(driver.outbox(), bytes, rounds + 1000 * node.rank());
        for (std::uint32_t i = 0; i < rounds; ++i) {
            const std::uint64_t round = driver.next_notification(node);
            ASSERT_LT(round, rounds);
            const std::size_t size = size_of(static_cast<std::uint32_t>(round));
            EXPECT_EQ(first_wrong(driver.inbox() + round * bytes, size, round + 1000 * other), size)
                << "of put " << round;
        }
        finish(node, drivers);
    });
}

TEST_P(Conformance, EveryPortReachesEveryPeer) {
    const std::vector<std::vector<Port>> groups{{Port{0}, Port{1}, Port{2}, Port{3}}};
    constexpr Rank ranks = 4;
    static constexpr std::size_t bytes = 24;
    run_ranks(GetParam(), ranks, [&groups](Node& node) {
        const auto drivers = wire(node, GetParam(), groups, 4 * ranks * bytes);
        Driver& driver = *drivers[0];
        fill(driver.outbox(), bytes, node.rank());
        std::set<std::uint64_t> expected;
        for (Rank peer = 0; peer < ranks; ++peer) {
            for (const Port port : groups[0]) {
                if (peer != node.rank()) {
                    const std::uint32_t slot = 4 * node.rank() + port.index;
                    driver.put(node, port, peer, 0, slot * bytes, bytes, slot);
                    expected.insert(4 * peer + port.index);
                }
            }
        }
        while (!expected.empty()) {
            const std::uint64_t slot = driver.next_notification(node);
            EXPECT_EQ(expected.erase(slot), 1U) << "notification " << slot;
            EXPECT_EQ(first_wrong(driver.inbox() + slot * bytes, bytes, slot / 4), bytes);
        }
        finish(node, drivers);
    });
}

namespace {

/// One thread's part of GroupsRunOnThreadsOfTheirOwn: `rounds` of ping and pong through one port.
void ping_pong(const Node& node, Driver& driver, Port out, std::uint32_t rounds,
               std::chrono::microseconds nap) {
    constexpr std::size_t bytes = 100;
    const Rank other = 1 - node.rank();
    for (std::uint32_t i = 0; i < rounds; ++i) {
        if (node.rank() == 1) {
            EXPECT_EQ(driver.next_notification(node, nap), i);
            EXPECT_EQ(first_wrong(driver.inbox(), bytes, i), bytes);
        }
        driver.flush(node);
        fill(driver.outbox(), bytes, i + 500 * node.rank());
        driver.put(node, out, other, 0, 0, bytes, i);
        if (node.rank() == 0) {
            EXPECT_EQ(driver.next_notification(node, nap), i);
            EXPECT_EQ(first_wrong(driver.inbox(), bytes, i + 500), bytes);
        }
    }
}

}  // namespace

TEST_P(Conformance, GroupsRunOnThreadsOfTheirOwn) {
    // Group g of rank 0 talks to the group of rank 1 that owns the opposite port.
    const std::vector<std::vector<Port>> groups{{Port{0}}, {Port{1}}, {Port{2}}, {Port{3}}};
    run_ranks(GetParam(), 2, [&groups](Node& node) {
        const auto drivers = wire(node, GetParam(), groups, 4096);
        std::mutex mutex;
        std::string error;
        std::vector<std::thread> threads;
        for (std::size_t g = 0; g < drivers.size(); ++g) {
            threads.emplace_back([&, g] {
                try {
                    ping_pong(node, *drivers[g], groups[g][0], 100, std::chrono::milliseconds(1));
                } catch (const std::exception& problem) {
                    const std::scoped_lock lock(mutex);
                    error = problem.what();
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        if (!error.empty()) {
            throw std::runtime_error(error);
        }
        finish(node, drivers);
    });
}

TEST_P(Conformance, WaitWakesForEveryArrival) {
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, 4096);
        const Port out{node.rank()};
        // Connections need not wake anybody: they are made while both poll.
        ping_pong(node, *drivers[0], out, 1, std::chrono::milliseconds(1));
        constexpr std::chrono::seconds longest{30};
        const auto begin = std::chrono::steady_clock::now();
        ping_pong(node, *drivers[0], out, 200, longest);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, longest) << "a wake-up was lost";
        finish(node, drivers);
    });
}

TEST_P(Conformance, WakeEndsAWaitNowOrTheNextOne) {
    // Each wait would last a minute, longer than the test may, if a wake-up were lost.
    run_ranks(GetParam(), 1, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, 64);
        PortGroup& group = drivers[0]->group();
        std::atomic<int> waits{0};
        std::thread waker([&] {
            for (int i = 0; i < 50; ++i) {
                group.wake();
                while (waits.load() <= i) {
                    std::this_thread::yield();
                }
                if (i % 2 == 0) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the owner sleeps
                }
            }
        });
        while (waits.load() < 50) {
            group.wait(std::chrono::minutes(1));
            drivers[0]->poll();
            ++waits;
        }
        waker.join();
        EXPECT_EQ(drivers[0]->unread(), 0U);
        node.check();
    });
}

TEST_P(Conformance, WaitEndsWithoutArrivals) {
    run_ranks(GetParam(), 1, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, 64);
        for (const int nap : {0, 1, 3000}) {
            drivers[0]->group().wait(std::chrono::microseconds(nap));
            drivers[0]->poll();
        }
        EXPECT_EQ(drivers[0]->unread(), 0U);
        node.check();
    });
}

}  // namespace trefoil::conformance
