// SPDX-License-Identifier: BSD-3-Clause
// The promises of backend/ports/port_group.hpp about memory of the user's, tested on every
// transport.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/backend/ports/conformance.hpp"
#include "tests/sanitizers.hpp"

namespace trefoil::conformance {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* why_not = "its groups register no memory";

Registering& registering_of(PortGroup& group) {
    if (group.registering() == nullptr) {
        throw std::runtime_error(why_not);
    }
    return *group.registering();
}

/// Plain memory of this rank's, registered but for its ends: odd addresses, odd lengths.
struct Plain {
    static constexpr std::size_t rim = 67;
    Plain(Registering& registering, std::size_t bytes)
        : all(bytes + 2 * rim), memory(registering.register_memory(all.data() + rim, bytes)) {}
    std::byte* data() { return all.data() + rim; }
    bool rim_is_untouched() const {
        const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
        return std::all_of(all.begin(), all.begin() + rim, zero) &&
               std::all_of(all.end() - rim, all.end(), zero);
    }
    std::vector<std::byte> all;
    LocalMemory memory;
};

/// What events of puts that may fail have told.
struct Outcome {
    std::set<std::uint64_t> queued;  ///< cookies of those that are neither sent nor failed
    std::size_t arrived = 0, failed = 0;

    void poll(PortGroup& group) {
        std::array<Event, 8> events;
        for (std::size_t i = group.poll(events); i > 0; --i) {
            const Event& event = events[i - 1];
            arrived += event.kind == Event::Kind::arrived ? 1 : 0;
            failed += event.kind == Event::Kind::failed ? 1 : 0;
            if (event.kind != Event::Kind::arrived) {
                queued.erase(event.cookie);
            }
        }
    }
    void poll_for(PortGroup& group, std::chrono::milliseconds time) {
        for (const auto end = Clock::now() + time; Clock::now() < end;) {
            poll(group);
        }
    }
    /// A put that may fail, or be refused again and again.
    void put(Driver& driver, const RemoteMemory& target, std::size_t at, std::size_t bytes,
             std::uint64_t number) {
        PutResult result = PutResult::again;
        for (int attempt = 0; attempt < 1000 && result == PutResult::again; ++attempt) {
            result = driver.group().put({.port = Port{0},
                                         .peer = driver.peer(Port{0}, 1),
                                         .source = driver.outbox() + at,
                                         .descriptor = driver.outbox_memory().descriptor,
                                         .target = target,
                                         .offset = at,
                                         .bytes = bytes,
                                         .notification = number,
                                         .cookie = number});
            if (result == PutResult::queued) {
                queued.insert(number);
            }
            poll(driver.group());
        }
        failed += result == PutResult::failed ? 1 : 0;
    }
};

std::size_t open_files() {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::size_t resident_bytes() {
    std::size_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_P(Conformance, PutsLandInRegisteredMemory) {
    if (!GetParam().registers) {
        GTEST_SKIP() << why_not;
    }
    static constexpr std::size_t sizes[] = {
        0, 1, 8, 31, 32, 33, 1000, 4096, 8191, (64 << 10) + 1, 1 << 20};
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, 64);
        Driver& driver = *drivers[0];
        PortGroup& group = driver.group();
        Registering& registering = registering_of(group);
        ASSERT_TRUE(registering.can_register());
        Plain inbox(registering, (1 << 20) + 64);
        Plain outbox(registering, (1 << 20) + 64);
        const Rank other = 1 - node.rank();
        const auto all = node.allgather(group.describe(inbox.memory));
        const RemoteMemory target = group.import_memory(all[other]);
        EXPECT_EQ(target.bytes, inbox.memory.bytes);
        if (const Landings* const landings = group.landings()) {
            EXPECT_EQ(landings->landing(driver.peer(Port{0}, other), target, 0, 4096), nullptr);
        }
        for (std::uint32_t k = 0; k < std::size(sizes); ++k) {
            const std::size_t bytes = sizes[k];
            std::byte* const source = outbox.data() + k;
            fill(source, bytes, 10 * k + node.rank());
            driver.put_to(node, Port{static_cast<int>(k % 2)}, other, source,
                          outbox.memory.descriptor, target, 3 * k, bytes, 100 + k);
            EXPECT_EQ(driver.next_notification(node), 100 + k);
            EXPECT_EQ(first_wrong(inbox.data() + 3 * k, bytes, 10 * k + other), bytes)
                << "of a put of " << bytes << " bytes";
            driver.flush(node);
            node.allgather({}, [&] { driver.poll(); });
        }
        // To the last byte.
        fill(outbox.data(), 500, 7);
        driver.put_to(node, Port{0}, other, outbox.data(), outbox.memory.descriptor, target,
                      target.bytes - 500, 500, 5);
        EXPECT_EQ(driver.next_notification(node), 5U);
        EXPECT_EQ(first_wrong(inbox.data() + inbox.memory.bytes - 500, 500, 7), 500U);
        EXPECT_TRUE(inbox.rim_is_untouched());
        finish(node, drivers);
        registering.release(target);
        registering.deregister(inbox.memory);
        registering.deregister(outbox.memory);
        node.allgather({}, [&] { driver.poll(); });
    });
}

TEST_P(Conformance, WhatIsRegisteredTwiceIsOpenUntilBothAreEnded) {
    if (!GetParam().registers) {
        GTEST_SKIP() << why_not;
    }
    static constexpr std::size_t bytes = 20000;
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, bytes);
        Driver& driver = *drivers[0];
        PortGroup& group = driver.group();
        Registering& registering = registering_of(group);
        std::vector<std::byte> memory(3 * bytes);
        // The whole, the whole again, and a part that overlaps.
        const std::vector<LocalMemory> registered{
            registering.register_memory(memory.data(), memory.size()),
            registering.register_memory(memory.data(), memory.size()),
            registering.register_memory(memory.data() + bytes / 2, bytes)};
        EXPECT_NE(registered[0].registration, registered[1].registration);
        const Rank other = 1 - node.rank();
        std::vector<RemoteMemory> targets;
        for (const LocalMemory& each : registered) {
            const auto all = node.allgather(group.describe(each));
            targets.push_back(group.import_memory(all[other]));
        }
        const auto exchange = [&](std::size_t which, std::size_t offset, std::uint64_t seed) {
            fill(driver.outbox(), bytes / 2, seed + node.rank());
            driver.put_to(node, Port{0}, other, driver.outbox(), driver.outbox_memory().descriptor,
                          targets[which], offset, bytes / 2, seed);
            EXPECT_EQ(driver.next_notification(node), seed);
            EXPECT_EQ(first_wrong(registered[which].data + offset, bytes / 2, seed + other),
                      bytes / 2);
            driver.flush(node);
            node.allgather({}, [&] { driver.poll(); });
        };
        const auto end = [&](std::size_t which) {
            registering.release(targets[which]);
            registering.deregister(registered[which]);
            registering.deregister(registered[which]);  // does nothing
            EXPECT_THROW((void)group.describe(registered[which]), Error);
            node.allgather({}, [&] { driver.poll(); });
        };
        exchange(0, 0, 1);
        exchange(1, bytes, 2);
        exchange(2, 0, 3);
        end(0);
        exchange(1, 0, 4);
        exchange(2, 3, 5);
        end(1);
        exchange(2, bytes / 2, 6);
        finish(node, drivers);
        end(2);
    });
}

TEST_P(Conformance, NothingLandsInMemoryThatWasDeregistered) {
    if (!GetParam().registers) {
        GTEST_SKIP() << why_not;
    }
    static constexpr std::size_t sizes[] = {8, 5000, 1 << 20};
    static constexpr std::size_t room = 3 << 20;
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, room);
        Driver& driver = *drivers[0];
        PortGroup& group = driver.group();
        Registering& registering = registering_of(group);
        std::vector<std::byte> memory(room);
        LocalMemory registered;
        if (node.rank() == 1) {
            registered = registering.register_memory(memory.data(), room);
        }
        const auto all = node.allgather(node.rank() == 1 ? group.describe(registered) : "");
        Outcome outcome;
        if (node.rank() == 0) {
            const RemoteMemory target = group.import_memory(all[1]);
            for (std::size_t k = 0; k < 3; ++k) {  // the way is open
                driver.put_to(node, Port{0}, 1, driver.outbox(), driver.outbox_memory().descriptor,
                              target, k << 20, sizes[k], k);
            }
            driver.flush(node);
            node.allgather({}, [&] { driver.poll(); });
            node.allgather({}, [&] { driver.poll(); });  // it is closed
            fill(driver.outbox(), room, 9);
            for (std::size_t k = 0; k < 3; ++k) {
                outcome.put(driver, target, k << 20, sizes[k], 1000 + k);
            }
            outcome.poll_for(group, std::chrono::milliseconds(300));
            registering.release(target);
        } else {
            for (std::size_t k = 0; k < 3; ++k) {
                driver.next_notification(node);
            }
            node.allgather({}, [&] { driver.poll(); });
            registering.deregister(registered);
            fill(memory.data(), room, 1);
            node.allgather({}, [&] { driver.poll(); });
            outcome.poll_for(group, std::chrono::milliseconds(400));
            EXPECT_EQ(first_wrong(memory.data(), room, 1), room);
            EXPECT_EQ(outcome.arrived, 0U) << "notifications of puts that came too late";
        }
        node.allgather({}, [&] { outcome.poll(group); });
    });
}

TEST_P(Conformance, DeregisteringStopsPutsThatAreLanding) {
    if (!GetParam().registers) {
        GTEST_SKIP() << why_not;
    }
    static constexpr std::uint64_t puts = 40;
    static constexpr std::size_t bytes = 96 << 10;
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, puts * bytes);
        Driver& driver = *drivers[0];
        PortGroup& group = driver.group();
        Registering& registering = registering_of(group);
        if (!registering.deregister_stops_landing()) {
            finish(node, drivers);
            return;  // it says so itself
        }
        fill(driver.outbox(), puts * bytes, 3);
        Outcome outcome;
        for (std::size_t round = 0; round < 8; ++round) {
            std::vector<std::byte> memory(puts * bytes);
            LocalMemory registered;
            if (node.rank() == 1) {
                registered = registering.register_memory(memory.data(), memory.size());
            }
            const auto poll = [&] { outcome.poll(group); };
            const auto all =
                node.allgather(node.rank() == 1 ? group.describe(registered) : "", poll);
            RemoteMemory target;
            if (node.rank() == 0) {
                target = group.import_memory(all[1]);
            }
            node.allgather({}, poll);
            if (node.rank() == 0) {
                for (std::uint64_t i = 0; i < puts; ++i) {
                    outcome.put(driver, target, i * bytes, bytes, i + round * puts);
                }
                while (!outcome.queued.empty()) {  // each is told to be sent, or to have failed
                    node.check();
                    poll();
                }
                registering.release(target);
            } else {
                const std::size_t before = outcome.arrived + outcome.failed;
                while (outcome.arrived + outcome.failed < before + 2 * round) {
                    node.check();
                    poll();
                }
                registering.deregister(registered);
                fill(memory.data(), memory.size(), 1);
            }
            node.allgather({}, poll);
            if (node.rank() == 1) {
                outcome.poll_for(group, std::chrono::milliseconds(5));
                ASSERT_EQ(first_wrong(memory.data(), memory.size(), 1), memory.size())
                    << "round " << round;
            }
        }
        if (node.rank() == 1) {
            EXPECT_EQ(outcome.failed, 0U);
        }
        // The ports are as good as before. Nobody polls before all have come here: the next
        // notification is not of a round.
        node.allgather({});
        const Rank other = 1 - node.rank();
        driver.put(node, Port{1}, other, 0, 0, 100, 77);
        EXPECT_EQ(driver.next_notification(node), 77U);
        finish(node, drivers);
    });
}

TEST_P(Conformance, RegistrationsLeaveNothingBehind) {
    if (!GetParam().registers) {
        GTEST_SKIP() << why_not;
    }
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, 64);
        Driver& driver = *drivers[0];
        PortGroup& group = driver.group();
        Registering& registering = registering_of(group);
        const auto poll = [&] { driver.poll(); };
        const Rank other = 1 - node.rank();
        std::vector<std::byte> memory(1 << 20);
        const LocalMemory whole = registering.register_memory(memory.data(), memory.size());
        const auto all = node.allgather(group.describe(whole), poll);
        const auto churn = [&](int rounds) {
            std::vector<LocalMemory> registered;
            for (int round = 0; round < rounds; ++round) {
                for (std::size_t i = 0; i < 200; ++i) {
                    registered.push_back(
                        registering.register_memory(memory.data() + 1000 * i, 5000));
                }
                for (const LocalMemory& each : registered) {
                    (void)group.describe(each);
                    registering.deregister(each);
                    registering.release(group.import_memory(all[other]));
                }
                registered.clear();
            }
        };
        churn(2);
        node.allgather({}, poll);
        // One rank after the other: threads share what is counted.
        const auto count = [&] {
            std::pair<std::size_t, std::size_t> held;
            for (Rank turn = 0; turn < node.ranks(); ++turn) {
                if (turn == node.rank()) {
                    held = {open_files(), resident_bytes()};
                }
                node.allgather({}, poll);
            }
            return held;
        };
        const auto before = count();
        churn(test::sanitized ? 10 : 40);  // each end of a registration waits for all processors
        node.allgather({}, poll);
        const auto after = count();
        EXPECT_LE(after.first, before.first);  // what connecting took may go meanwhile
        if (!test::sanitized) {
            EXPECT_LT(after.second, before.second + (4 << 20));
        }
        // And the one that was there all the time still serves.
        const RemoteMemory target = group.import_memory(all[other]);
        driver.put_to(node, Port{0}, other, driver.outbox(), driver.outbox_memory().descriptor,
                      target, 12345, 60, 8);
        EXPECT_EQ(driver.next_notification(node), 8U);
        finish(node, drivers);
        registering.release(target);
        registering.deregister(whole);
    });
}

TEST_P(Conformance, MemoryThatCannotBeWrittenIsNotRegistered) {
    if (!GetParam().registers) {
        GTEST_SKIP() << why_not;
    }
    BackendConfig config;
    config.provider = GetParam().provider;
    config.groups = one_group;
    const auto group = std::move(open_backend(GetParam().backend, config)[0]);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const mapped = mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    const auto refused = [&](void* data, std::size_t bytes) {
        try {
            registering_of(*group).register_memory(data, bytes);
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::invalid_argument);
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_NE(refused(mapped, page).find("read-only"), std::string::npos);
    munmap(mapped, 2 * page);
    EXPECT_NE(refused(mapped, page).find("nothing is mapped"), std::string::npos);
    EXPECT_NE(refused(nullptr, 8), "accepted");
    int word = 0;
    EXPECT_NE(refused(&word, 0), "accepted");
}

}  // namespace trefoil::conformance
