// SPDX-License-Identifier: BSD-3-Clause
// The promises of backend/ports/port_group.hpp about connecting, giving up, and what is refused.
#include "tests/backend/ports/conformance.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

namespace trefoil::conformance {

TEST_P(Conformance, ConnectingAgainIsHarmless) {
    run_ranks(GetParam(), 2, [](Node& node) {
        const auto drivers = wire(node, GetParam(), one_group, 4096);
        Driver& driver = *drivers[0];
        const auto all = node.allgather(driver.describe());
        const Rank other = 1 - node.rank();
        std::set<std::uint64_t> arrived;
        for (std::uint32_t i = 0; i < 3; ++i) {
            driver.connect(other, all[other]);
            // Elsewhere each time: the one before may still be landing, and be overtaken.
            driver.put(node, Port{1}, other, 0, 64 * i, 16, i);
            arrived.insert(driver.next_notification(node));
            driver.flush(node);
        }
        EXPECT_EQ(arrived, (std::set<std::uint64_t>{0, 1, 2}));
        finish(node, drivers);
    });
}

namespace {

constexpr std::uint32_t late_puts = 24;
constexpr std::size_t late_bytes = 1 << 20;

/// Puts as much as is accepted to a peer that does not poll, gives up, overwrites what it has put,
/// frees it, and goes.
void give_up(Node& node, std::vector<std::unique_ptr<Driver>> drivers, Peer peer,
             const RemoteMemory& target) {
    PortGroup& group = drivers[0]->group();
    std::vector<std::byte> own(group.traits().needs_registered_source ? 0 : late_puts * late_bytes);
    std::byte* const source = own.empty() ? drivers[0]->outbox() : own.data();
    void* const descriptor = own.empty() ? drivers[0]->outbox_memory().descriptor : nullptr;
    std::array<Event, 8> events;
    PutResult result = PutResult::done;
    for (std::uint32_t i = 0; i < late_puts; ++i) {
        std::byte* const from = source + i * late_bytes;
        fill(from, late_bytes, i);
        result = PutResult::again;
        for (int attempt = 0; attempt < 100 && result == PutResult::again; ++attempt) {
            result = group.put({.port = Port{0},
                                .peer = peer,
                                .source = from,
                                .descriptor = descriptor,
                                .target = target,
                                .offset = i * late_bytes,
                                .bytes = late_bytes,
                                .notification = i,
                                .cookie = i});
            group.poll(events);
        }
    }
    const auto begin = std::chrono::steady_clock::now();
    group.abandon(std::chrono::milliseconds(50));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    std::fill_n(source, late_puts * late_bytes, std::byte{0xdd});
    own = {};
    group.abandon(std::chrono::milliseconds(50));  // harmless
    group.wake();
    node.allgather({});
    drivers.clear();
    node.allgather({});
}

}  // namespace

TEST_P(Conformance, AnAbandonedGroupReadsNoSourceAnyMore) {
    if (GetParam().provider == "shm") {
        GTEST_SKIP() << "the peer itself fetches the bytes, when it gets round to it";
    }
    if (GetParam().why_not_abandoned != nullptr) {
        GTEST_SKIP() << GetParam().why_not_abandoned;
    }
    run_ranks(GetParam(), 2, [](Node& node) {
        auto drivers = wire(node, GetParam(), one_group, late_puts * late_bytes);
        Driver& driver = *drivers[0];
        PortGroup& group = driver.group();
        const auto addresses = node.allgather(group.address(Port{1}));
        const auto inboxes = node.allgather(group.describe(driver.inbox_memory()));
        const Rank other = 1 - node.rank();
        const Peer peer = group.connect(Port{0}, addresses[other]);
        const RemoteMemory target = group.import_memory(inboxes[other]);
        // The connection stands.
        driver.put(node, Port{0}, other, 0, 0, 8, late_puts);
        EXPECT_EQ(driver.next_notification(node), late_puts);
        driver.flush(node);
        node.allgather({}, [&] { driver.poll(); });
        if (node.rank() == 0) {
            give_up(node, std::move(drivers), peer, target);
            return;
        }
        node.allgather({});  // stopped, so to say
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
        std::array<Event, 8> events;
        while (std::chrono::steady_clock::now() < end) {  // `failed` may come: it is bad news
            for (std::size_t i = group.poll(events); i > 0; --i) {
                const Event& event = events[i - 1];
                if (event.kind == Event::Kind::arrived) {
                    ASSERT_LT(event.notification, late_puts);
                    EXPECT_EQ(first_wrong(driver.inbox() + event.notification * late_bytes,
                                          late_bytes, event.notification),
                              late_bytes)
                        << "put " << event.notification << " has bytes of after the end";
                }
            }
        }
        node.allgather({});
    });
}

TEST_P(Conformance, RefusesBlobsThatAreNotItsOwn) {
    BackendConfig config;
    config.provider = GetParam().provider;
    config.groups = one_group;
    const auto group = std::move(open_backend(GetParam().backend, config)[0]);
    const std::string memory = group->describe(group->allocate(100));
    const std::string address = group->address(Port{0});
    const std::vector<std::string> garbage{"", "x", std::string(200, '\0'), std::string(77, '\xff'),
                                           "GET / HTTP/1.1\r\n\r\n"};
    std::vector<std::string> bad_memory = garbage;
    std::vector<std::string> bad_address = garbage;
    bad_memory.insert(bad_memory.end(), {memory.substr(0, memory.size() - 1), memory + "x"});
    bad_address.insert(bad_address.end(), {address.substr(0, address.size() - 1), address + "x"});
    const auto refused = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            return std::string(error.what()).size() > 20;
        }
        return false;
    };
    for (const std::string& blob : bad_memory) {
        EXPECT_TRUE(refused([&] { group->import_memory(blob); })) << blob.size() << " bytes";
    }
    for (const std::string& blob : bad_address) {
        EXPECT_TRUE(refused([&] { group->connect(Port{0}, blob); })) << blob.size() << " bytes";
    }
}

TEST_P(Conformance, RefusesAProviderThatDoesNotExist) {
    BackendConfig config;
    config.provider = "no-such-provider";
    config.groups = one_group;
    try {
        open_backend(GetParam().backend, config);
        ADD_FAILURE() << "opened a provider that does not exist";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::not_found);
        EXPECT_NE(std::string(error.what()).find("no-such-provider"), std::string::npos)
            << error.what();
    }
}

}  // namespace trefoil::conformance
