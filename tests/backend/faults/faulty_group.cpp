// SPDX-License-Identifier: BSD-3-Clause
// Each fault alone, between two groups over shared memory, and that a seed repeats them.
#include "backend/faults/faulty_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "backend/registry/transports.hpp"
#include "topo/patience.hpp"

namespace trefoil {
namespace {

constexpr std::size_t bytes = 200;

/// Sends through a group with faults; what comes is counted.
class Pair {
  public:
    explicit Pair(const std::string& faults, Rank rank = 0) {
        BackendConfig config;
        config.groups = {{Port{0}}};
        auto groups = open_backend("memory", config);
        groups = with_faults(std::move(groups), parse_faults(faults), rank);
        from_ = std::move(groups[0]);
        to_ = std::move(open_backend("memory", config)[0]);
        landing_ = to_->allocate(bytes);
        target_ = from_->import_memory(to_->describe(landing_));
        peer_ = from_->connect(Port{0}, to_->address(Port{0}));
    }
    PutResult put(std::uint64_t notification) {
        source_.fill(std::byte{0x55});
        return from_->put({.port = Port{0},
                           .peer = peer_,
                           .source = source_.data(),
                           .target = target_,
                           .bytes = bytes,
                           .notification = notification,
                           .cookie = notification});
    }
    /// Polls both; what arrived and what was sent is added to the lists.
    void poll() {
        std::array<Event, 8> events;
        for (std::size_t i = from_->poll(events); i > 0; --i) {
            sent.push_back(events[i - 1].cookie);
        }
        for (std::size_t i = to_->poll(events); i > 0; --i) {
            arrived.push_back(events[i - 1].notification);
        }
    }
    int wrong_bits() const {
        int count = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
            count += __builtin_popcount(std::to_integer<unsigned>(landing_.data[i]) ^ 0x55U);
        }
        return count;
    }
    bool source_is_whole() const {
        return std::count(source_.begin(), source_.end(), std::byte{0x55}) == bytes;
    }
    PortGroup& from() { return *from_; }

    std::vector<std::uint64_t> sent, arrived;

  private:
    std::unique_ptr<PortGroup> from_, to_;
    LocalMemory landing_;
    RemoteMemory target_;
    Peer peer_;
    std::array<std::byte, bytes> source_{};
};

/// Which of 200 puts arrive, in order.
std::vector<std::uint64_t> survivors(const std::string& faults, Rank rank) {
    Pair pair(faults, rank);
    for (std::uint64_t i = 0; i < 200; ++i) {
        EXPECT_EQ(pair.put(i), PutResult::done);
        pair.poll();
    }
    return pair.arrived;
}

TEST(FaultyGroup, DropsSomePutsAndTheSeedRepeatsWhich) {
    const auto some = survivors("5:drop=0.5", 3);
    EXPECT_GT(some.size(), 50U);
    EXPECT_LT(some.size(), 150U);
    EXPECT_EQ(some, survivors("5:drop=0.5", 3));
    EXPECT_NE(some, survivors("6:drop=0.5", 3));
    EXPECT_NE(some, survivors("5:drop=0.5", 4));
    EXPECT_EQ(survivors("5:drop=1,rank=1", 0).size(), 200U);
}

TEST(FaultyGroup, DoublesNotifications) {
    Pair pair("5:twice=1");
    ASSERT_EQ(pair.put(7), PutResult::done);
    pair.poll();
    EXPECT_EQ(pair.arrived, (std::vector<std::uint64_t>{7, 7}));
    EXPECT_EQ(pair.wrong_bits(), 0);
    EXPECT_TRUE(pair.sent.empty());
}

TEST(FaultyGroup, FlipsOneBitOfWhatArrivesAndNoneOfTheSource) {
    Pair pair("5:flip=1");
    ASSERT_EQ(pair.put(7), PutResult::done);
    pair.poll();
    EXPECT_EQ(pair.arrived.size(), 1U);
    EXPECT_EQ(pair.wrong_bits(), 1);
    EXPECT_TRUE(pair.source_is_whole());
}

TEST(FaultyGroup, FailsInWords) {
    Pair pair("5:fail=1");
    EXPECT_EQ(pair.put(7), PutResult::failed);
    EXPECT_EQ(pair.from().error_text(), "refused by TREFOIL_FAULTS");
}

TEST(FaultyGroup, RefusesPutsForAWhile) {
    Pair pair("5:again=4");
    int refusals = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
        int attempts = 0;
        while (pair.put(i) == PutResult::again) {
            ASSERT_LT(++attempts, 5);
        }
        refusals += attempts;
        pair.poll();
    }
    EXPECT_GT(refusals, 50);
    EXPECT_EQ(pair.arrived.size(), 100U);
}

TEST(FaultyGroup, StallsForEver) {
    Pair pair("5:stall=20");
    std::uint64_t accepted = 0;
    for (int i = 0; i < 1000; ++i) {
        accepted += pair.put(accepted) == PutResult::done ? 1 : 0;
        pair.poll();
    }
    EXPECT_LT(accepted, 20U);
    EXPECT_EQ(pair.arrived.size(), accepted);
}

TEST(FaultyGroup, ClosesOneDirectionSilently) {
    const auto before = survivors("5:close=20", 0);
    EXPECT_LT(before.size(), 20U);
    for (std::uint64_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(before[i], i);
    }
}

TEST(FaultyGroup, HoldsPutsBackAndSendsThemInTheEnd) {
    Pair pair("5:delay=2000");
    for (std::uint64_t i = 0; i < 20; ++i) {
        ASSERT_EQ(pair.put(i), PutResult::queued);
    }
    pair.poll();
    EXPECT_LT(pair.arrived.size(), 20U);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (pair.arrived.size() < 20 && std::chrono::steady_clock::now() < end) {
        pair.from().wait(std::chrono::milliseconds(10));
        pair.poll();
    }
    EXPECT_EQ(pair.arrived.size(), 20U);
    EXPECT_EQ(pair.sent.size(), 20U);
}

TEST(FaultyGroup, SeesOffWhatItHoldsWhenItIsAbandoned) {
    Pair pair("5:delay=1000000");
    ASSERT_EQ(pair.put(7), PutResult::queued);
    pair.from().abandon(patience().longest_drain);
    pair.poll();
    EXPECT_EQ(pair.arrived.size(), 1U);
}

}  // namespace
}  // namespace trefoil
