// SPDX-License-Identifier: BSD-3-Clause
// Registrations are shared, counted, and not taken back too early.
#include "backend/registrations/memory_registry.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "backend/registry/transports.hpp"
#include "tests/backend/ports/silent_group.hpp"

namespace trefoil {
namespace {

/// Counts what is registered; nothing else is asked of it.
class CountingGroup final : public test::SilentGroup, public Registering {
  public:
    CountingGroup() { powers_.registering = this; }

    LocalMemory register_memory(void* data, std::size_t bytes) override {
        if (full) {
            throw Error(Status::out_of_memory, "full");
        }
        open[++calls] = bytes;
        return {static_cast<std::byte*>(data), bytes, nullptr, calls};
    }
    void deregister(const LocalMemory& memory) noexcept override {
        EXPECT_EQ(open.erase(memory.registration), 1U);
    }

    std::map<std::uint64_t, std::size_t> open;
    std::uint64_t calls = 0;
    bool full = false;
};

class Registry : public testing::Test {
  protected:
    std::byte* at(std::size_t offset) { return memory_.data() + offset; }
    std::string refusal(const std::function<void()>& call) {
        try {
            call();
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::invalid_argument);
            return error.what();
        }
        return "accepted";
    }
    std::string text(std::size_t offset) {
        char hex[32];
        std::snprintf(hex, sizeof hex, "%p", static_cast<void*>(at(offset)));
        return hex;
    }
    void expect_pieces(const std::string& all, const std::vector<std::string>& pieces) {
        for (const std::string& piece : pieces) {
            EXPECT_NE(all.find(piece), std::string::npos) << piece << " is not in: " << all;
        }
    }

    std::vector<std::byte> memory_{100000};
    CountingGroup group_;
    MemoryRegistry registry_{group_};
};

TEST_F(Registry, WhatIsInsideUsesTheRegistrationThatIsThere) {
    const auto whole = registry_.use(at(1000), 5000, "first");
    const auto part = registry_.use(at(1500), 100, "second");
    const auto again = registry_.use(at(1000), 5000, "third");
    EXPECT_EQ(group_.calls, 1U);
    EXPECT_EQ(part.memory.registration, whole.memory.registration);
    EXPECT_EQ(part.offset, 500U);
    EXPECT_EQ(again.offset, 0U);
    EXPECT_EQ(registry_.bytes(), 5000U);
    registry_.end_use(whole.use);
    registry_.end_use(whole.use);  // does nothing
    registry_.end_use(again.use);
    EXPECT_EQ(group_.open.size(), 1U);
    registry_.end_use(part.use);
    EXPECT_TRUE(group_.open.empty());
    EXPECT_EQ(registry_.bytes(), 0U);
}

TEST_F(Registry, ALongRangeIsFoundThoughAShortOneWasRegisteredLast) {
    const auto whole = registry_.use(at(1000), 5000, "first");
    (void)registry_.use(at(10000), 10, "second");
    const auto part = registry_.use(at(4000), 100, "third");
    EXPECT_EQ(part.memory.registration, whole.memory.registration);
    EXPECT_EQ(group_.calls, 2U);
}

TEST_F(Registry, WhatOnlyOverlapsIsRegisteredByItself) {
    const auto first = registry_.use(at(1000), 1000, "first");
    for (const auto& [begin, bytes] : {std::pair{999, 10}, {1999, 2}, {500, 3000}}) {
        const auto other = registry_.use(at(static_cast<std::size_t>(begin)),
                                         static_cast<std::size_t>(bytes), "other");
        EXPECT_NE(other.memory.registration, first.memory.registration);
        EXPECT_EQ(other.offset, 0U);
        registry_.end_use(other.use);
        EXPECT_EQ(group_.open.size(), 1U);
    }
}

TEST_F(Registry, DroppingTooEarlySaysWhoUsesItAndChangesNothing) {
    registry_.hold(at(0), 4096);
    const auto use = registry_.use(at(64), 128, "a persistent allreduce");
    const auto more = registry_.use(at(0), 8, "another");
    expect_pieces(refusal([&] { registry_.drop(at(0)); }),
                  {"deregistered too early", "4096 bytes at " + text(0),
                   "a persistent allreduce uses 128 bytes at " + text(64), "1 more"});
    EXPECT_EQ(group_.open.size(), 1U);
    registry_.end_use(use.use);
    registry_.end_use(more.use);
    registry_.drop(at(0));
    EXPECT_TRUE(group_.open.empty());
    expect_pieces(refusal([&] { registry_.drop(at(0)); }), {"no memory", text(0)});
}

TEST_F(Registry, HoldsAreCounted) {
    registry_.hold(at(0), 4096);
    registry_.hold(at(0), 100);
    const auto use = registry_.use(at(50), 10, "somebody");
    registry_.drop(at(0));  // the other one remains
    EXPECT_NE(refusal([&] { registry_.drop(at(0)); }), "accepted");
    registry_.end_use(use.use);
    registry_.drop(at(0));
    EXPECT_EQ(registry_.registrations(), 0U);
    EXPECT_EQ(group_.calls, 1U);
}

TEST_F(Registry, FreeingTooEarlySaysWhoUsesIt) {
    const auto use = registry_.use(at(1000), 100, "a persistent bcast");
    registry_.require_unused(at(0), 1000, "freed");
    registry_.require_unused(at(1100), 1000, "freed");
    expect_pieces(refusal([&] { registry_.require_unused(at(0), 1001, "freed"); }),
                  {"freed too early: 1001 bytes at " + text(0), "a persistent bcast uses 100 bytes",
                   text(1000)});
    registry_.end_use(use.use);
    registry_.require_unused(at(0), 5000, "freed");
    registry_.hold(at(10), 10);
    expect_pieces(refusal([&] { registry_.require_unused(at(0), 11, "freed"); }),
                  {"the program has registered 10 bytes"});
}

TEST_F(Registry, AFailureChangesNothing) {
    registry_.hold(at(0), 100);
    group_.full = true;
    EXPECT_THROW(registry_.use(at(50), 100, "somebody"), Error);
    EXPECT_THROW(registry_.hold(at(50), 100), Error);
    registry_.use(at(50), 50, "somebody");  // is there already
    EXPECT_EQ(registry_.registrations(), 1U);
}

/// Against plain counting, with many ranges at random.
TEST_F(Registry, EndsEachRegistrationWithItsLastUser) {
    std::mt19937 random(5);
    std::vector<std::uint64_t> uses;
    for (int step = 0; step < 20000; ++step) {
        if (uses.size() < 200 && random() % 2 == 0) {
            const std::size_t begin = random() % 90000;
            const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 10000 : 50);
            const auto place = registry_.use(at(begin), bytes, "somebody");
            ASSERT_EQ(place.memory.data + place.offset, at(begin));
            ASSERT_LE(place.offset + bytes, place.memory.bytes);
            ASSERT_EQ(group_.open.count(place.memory.registration), 1U);
            uses.push_back(place.use);
        } else if (!uses.empty()) {
            std::swap(uses[random() % uses.size()], uses.back());
            registry_.end_use(uses.back());
            uses.pop_back();
        }
        ASSERT_EQ(group_.open.size(), registry_.registrations());
        ASSERT_LE(group_.open.size(), uses.size());
    }
    for (const std::uint64_t use : uses) {
        registry_.end_use(use);
    }
    EXPECT_TRUE(group_.open.empty());
    EXPECT_LT(group_.calls, 10000U);  // some were shared
}

TEST(RegistryOverPorts, EndsItsRegistrationsWithIt) {
    BackendConfig config;
    config.groups = {{Port{0}}};
    const auto group = std::move(open_backend("memory", config)[0]);
    std::vector<std::byte> memory(1000);
    LocalMemory registered;
    {
        MemoryRegistry registry(*group);
        registered = registry.use(memory.data(), 1000, "somebody").memory;
        EXPECT_FALSE(group->describe(registered).empty());
    }
    EXPECT_THROW((void)group->describe(registered), Error);
}

}  // namespace
}  // namespace trefoil
