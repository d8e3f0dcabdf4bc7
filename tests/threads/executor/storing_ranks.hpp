// SPDX-License-Identifier: BSD-3-Clause
// Two ranks whose messages are stores into each other's slots, made by hand: for tests of what runs
// such calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "program_writer.hpp"
#include "tests/backend/ports/silent_group.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/running_call.hpp"

namespace trefoil::test {

/// Counts how often a peer is rung for.
class StoringGroup final : public SilentGroup, public Storing {
  public:
    StoringGroup() : SilentGroup({Port{0}}) { powers_ = {.storing = this}; }
    int rings = 0;

    std::byte* mapped(const RemoteMemory&) const override { return nullptr; }
    void ring(Peer) noexcept override { ++rings; }
    void watch(Watch) noexcept override {}
    bool may_have_arrivals() const noexcept override { return false; }
};

/// The slots of a channel, and behind them how many uses the receiver is done with.
struct Slots {
    explicit Slots(const RingShape& shape)
        : words((shape.bytes() + shape.slot_bytes) / sizeof(std::uint64_t)), bytes(shape.bytes()) {}
    StoringEnd end() {
        StoringEnd ends;
        ends.slots = reinterpret_cast<std::byte*>(words.data());
        ends.taken = words.data() + bytes / sizeof(std::uint64_t);
        return ends;
    }
    std::vector<std::uint64_t> words;
    std::size_t bytes;
};

/// One of two ranks, with one channel each way (number 0) of one ring.
class StoringRank {
  public:
    static constexpr std::size_t most_bytes = 112, flag_bytes = 16;
    static LandingRings rings() { return LandingRings::stored(0, 0, flag_bytes + most_bytes); }

    StoringRank(Rank rank, Slots& incoming, Slots& outgoing, Ring ring = Ring::few) {
        channels.rings = rings();
        channels.rank = rank;
        channels.groups.push_back(group);
        OutChannel& out = channels.out[channels.add_out(1 - rank, Port{0}, ring)];
        out.end = outgoing.end();
        out.connected = out.wired = true;
        InChannel& in = channels.in[channels.add_in(1 - rank, Port{0}, ring)];
        in.end = incoming.end();
        in.landed = true;
        engine = std::make_unique<Engine>(channels.groups, Engine::Member{rank, 2}, threads, false);
        parts = std::make_unique<ExecutorParts>(channels, *engine, ExecutorOptions{});
    }

    static ProgramWriter writer() { return ProgramWriter({0}, flag_bytes); }
    /// Issues a call, of one segment. The program stays.
    void issue(RunningCall& running, const Program& program, std::uint64_t signature = 42) {
        parts->room.include(program, channels.in.size(), channels.out.size());
        Issued& issued = issued_.emplace_back();
        issued.segment = {&program, 0};
        issued.call.segments = {&issued.segment, 1};
        issued.call.signature = signature;
        issued.call.text = "the test's call";
        running.begin(issued.call, {input.data(), output.data()}, issued_.size());
        parts->in_flight.issue_here();
        parts->calls.push_here(running);
    }
    bool advance() { return parts->stored.advance(notes_); }

    std::shared_ptr<StoringGroup> group = std::make_shared<StoringGroup>();
    Channels channels;
    PortThreads threads{0, {}};
    std::unique_ptr<Engine> engine;
    std::unique_ptr<ExecutorParts> parts;  ///< over the engine
    std::array<std::byte, 2 * most_bytes> input{}, output{};

  private:
    struct Issued {
        CallSegment segment;
        Call call;
    };
    TimelineNotes notes_{nullptr, 0};
    std::deque<Issued> issued_;
};

struct StoringRanks {
    explicit StoringRanks(Ring ring = Ring::few)
        : slots{Slots(StoringRank::rings()[ring]), Slots(StoringRank::rings()[ring])},
          first(0, slots[0], slots[1], ring),
          second(1, slots[1], slots[0], ring) {}
    std::array<Slots, 2> slots;  ///< of the first, and of the second
    StoringRank first, second;
};

}  // namespace trefoil::test
