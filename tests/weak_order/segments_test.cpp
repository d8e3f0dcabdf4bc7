// SPDX-License-Identifier: BSD-3-Clause
// Segments between their workers: how they are started, shown to others, shared and ended, what is
// told of channels meanwhile, and that their calls are done.
#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"
#include "tests/weak_order/quiet_group.hpp"
// The product's headers, over them. executor_files.cpp has the rest.
#include "tests/threads/executor/program_writer.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/worker_part.hpp"

namespace trefoil::weak {
namespace {

constexpr std::size_t bytes = 32;  // of a message
constexpr std::uint64_t call_signature = 0x123456789abcdef0;

Location output(std::size_t place) {
    return {Location::output, place * bytes};
}

/// A rank whose two groups have a channel each way, both with a worker's part.
struct TwoWorkers {
    TwoWorkers() {
        channels.rings = LandingRings(bytes, 0);
        for (int g = 0; g < 2; ++g) {
            groups[g] = std::make_shared<QuietGroup>(Port{g});
            channels.groups.push_back(groups[g]);
        }
        engine = std::make_unique<Engine>(channels.groups, Engine::Member{0, 3}, threads, false);
        parts = std::make_unique<ExecutorParts>(channels, *engine, ExecutorOptions{});
        for (std::size_t w = 0; w < 2; ++w) {
            workers.push_back(std::make_unique<WorkerPart>(w, 0, engine->links(w), *parts));
        }
        // The peers' cards are as this rank's.
        const std::vector<std::string> cards(3, encode(engine->card()));
        engine->meet(std::make_shared<Cards>(cards), [](std::string_view) { return 0; });
        for (int c = 0; c < 2; ++c) {
            channels.add_out(c + 1, Port{c}, Ring::few);
            channels.add_in(c + 1, Port{c}, Ring::few);
        }
        for (const auto& worker : workers) {
            worker->advance();
        }
        for (std::size_t c = 0; c < 2; ++c) {  // as peers tell
            wires[c].slot_bytes = bytes;
            wires[c].slots = LandingRings::few_slots;
            wires[c].key = channels.key_of(channels.out[c]);
            workers[c]->wired(wires[c]);
        }
        call.text = "the scenario's call";
        call.signature = call_signature;
    }

    void begin(const Program& its_program, std::size_t segments = 1) {
        program = its_program;
        parts->room.include(program, channels.in.size(), channels.out.size());
        for (RunningSegment& segment : parts->queue.places()) {
            segment.make_room(parts->room, 2);
        }
        pieces.assign(segments, CallSegment{&program, 0});
        call.segments = pieces;
        running.begin(call, {vector.data(), result.data()}, ++calls);
        parts->in_flight.issue_here();
        parts->calls.push_here(running);
    }
    /// The one message of a use of a channel, as its group's owner finds it.
    void arrive(std::size_t channel, std::uint32_t use) {
        note_write(channels.in[channel].landing + channels.slot_offset(Ring::few, use));
        const auto number = static_cast<std::uint32_t>(channel);
        const std::uint64_t notification =
            Notification{0, number, 0, use}.signed_for(running.hash(), bytes, 0).encode();
        workers[channel]->arrive(notification, number);
    }
    /// A round of the worker.
    void go_round(std::size_t own) {
        workers[own]->advance();
        for (QuietGroup& group = *groups[own]; !group.events.empty();) {
            const PutCookie cookie(group.events.front().cookie);
            group.events.pop_front();
            workers[own]->sent(cookie);
        }
    }
    /// The worker works until its call is done. `arriving`: a message comes at its group, too.
    std::function<void()> worker(const std::shared_ptr<TwoWorkers>& self, std::size_t own,
                                 bool arriving = false) {
        return [self, own, arriving] {
            if (arriving) {
                self->arrive(own, 0);
            }
            while (!self->running.done()) {
                self->go_round(own);
                std::this_thread::yield();
            }
            note_read(&self->result[0]);
        };
    }

    std::array<std::byte, 8 * bytes> vector{}, result{};
    std::array<Wire, 2> wires{};
    Channels channels;
    std::shared_ptr<QuietGroup> groups[2];
    PortThreads threads{0, {}};
    std::unique_ptr<Engine> engine;
    std::unique_ptr<ExecutorParts> parts;
    std::vector<std::unique_ptr<WorkerPart>> workers;
    Program program;
    std::vector<CallSegment> pieces;
    Call call;
    RunningCall running;
    std::uint64_t calls = 0;
};

/// What begins and ends a program.
Program completed(test::ProgramWriter& writer, bool acknowledged = false) {
    writer.end(test::copy_op(output(0), output(1), bytes));
    Program program = writer.take(acknowledged);
    program.begin = {static_cast<std::uint32_t>(program.ops.size()), 1};
    program.ops.push_back(test::copy_op(output(1), {Location::input, 0}, bytes));
    return program;
}

/// Worker 1 posts what worker 0 has put in place, a message comes, and what follows is anybody's.
Program two_steps() {
    test::ProgramWriter writer({0, 1});
    writer.part();
    writer.step();
    writer.put(1, output(1), bytes);
    const Location landed = writer.arrival(0, bytes);
    writer.after(test::copy_op(output(1), landed, bytes));
    writer.step();
    writer.put(1, output(1), bytes);
    return completed(writer);
}

Threads a_segment_runs() {
    const auto shared = std::make_shared<TwoWorkers>();
    shared->groups[1]->result = PutResult::queued;
    shared->begin(two_steps());
    return {shared->worker(shared, 0, true), shared->worker(shared, 1)};
}

/// Nothing but the program's end.
Program one_step() {
    test::ProgramWriter writer({0, 1});
    writer.part();
    writer.step();
    return completed(writer);
}

Threads places_are_used_again() {
    const auto shared = std::make_shared<TwoWorkers>();
    shared->begin(one_step(), 3);
    return {shared->worker(shared, 0), shared->worker(shared, 1)};
}

TEST(Segments, EveryOrderingIsNeeded) {
    prove({"threads/executor/segment_queue.hpp", "threads/executor/running_segment.hpp"},
          {{"a segment runs", a_segment_runs, {.preemptions = 1, .stale = 1}},
           {"places are used again", places_are_used_again, {.preemptions = 1, .stale = 1}}});
}

}  // namespace
}  // namespace trefoil::weak
