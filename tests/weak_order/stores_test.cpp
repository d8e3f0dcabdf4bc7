// SPDX-License-Identifier: BSD-3-Clause
// Messages that are stores: who sees a flag sees the message behind it, and a slot is written again
// only when what was there has been read.
#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"
// The product's headers, over them. executor_files.cpp has the rest.
#include "tests/threads/executor/storing_ranks.hpp"

namespace trefoil::weak {
namespace {

constexpr std::size_t bytes = 8;

/// The first rank sends, the second one receives.
struct Pair : test::StoringRanks {
    Pair() {
        test::ProgramWriter sender = test::StoringRank::writer();
        sender.part();
        sender.step();
        sender.put(0, {Location::input, 0}, bytes);
        sends = sender.take(false);
        test::ProgramWriter receiver = test::StoringRank::writer();
        receiver.part();
        receiver.step();
        const Location landed = receiver.arrival(0, bytes);
        receiver.after(ProgramOp::copy({Location::output, 0}, landed, bytes));
        receives = receiver.take(false);
    }
    Program sends, receives;
    std::deque<RunningCall> sent;
    RunningCall received;
};

std::function<void()> worker(const std::shared_ptr<Pair>& pair, test::StoringRank& rank,
                             const RunningCall& call) {
    return [pair, &rank, &call] {
        while (!call.done()) {
            rank.advance();
            std::this_thread::yield();
        }
    };
}

/// `before`: so many messages have been sent that nobody has received.
Threads messages(std::size_t before) {
    const auto pair = std::make_shared<Pair>();
    for (std::size_t i = 0; i <= before; ++i) {
        if (i > 0) {
            pair->first.advance();
        }
        pair->first.issue(pair->sent.emplace_back(), pair->sends);
    }
    pair->second.issue(pair->received, pair->receives);
    return {worker(pair, pair->first, pair->sent.back()),
            worker(pair, pair->second, pair->received)};
}

TEST(StoredSegment, EveryOrderingIsNeeded) {
    constexpr Bounds few{.preemptions = 1, .stale = 1};
    prove({"threads/executor/stored_segment.cpp"},
          {{"a message is awaited", [] { return messages(0); }, few},
           {"a slot is awaited", [] { return messages(LandingRings::stored_few_slots); }, few}});
}

}  // namespace
}  // namespace trefoil::weak
