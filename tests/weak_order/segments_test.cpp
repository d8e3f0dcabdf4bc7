// SPDX-License-Identifier: BSD-3-Clause
// Segments between their workers: how they are started, shown to others, shared and ended, what is
// told of channels meanwhile, and that their calls are done.
#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"
#include "tests/weak_order/rank_workers.hpp"
// The product's headers, over them. executor_files.cpp has the rest.
#include "tests/threads/executor/program_writer.hpp"

namespace trefoil::weak {
namespace {

/// What begins and ends a program.
Program completed(test::ProgramWriter& writer, bool acknowledged = false) {
    writer.end(ProgramOp::copy(output(0), output(1), bytes));
    Program program = writer.take(acknowledged);
    program.begin = {static_cast<std::uint32_t>(program.ops.size()), 1};
    program.ops.push_back(ProgramOp::copy(output(1), {Location::input, 0}, bytes));
    return program;
}

/// Worker 1 posts what worker 0 has put in place, a message comes, and what follows is anybody's.
Program two_steps() {
    test::ProgramWriter writer({0, 1});
    writer.part();
    writer.step();
    writer.put(1, output(1), bytes);
    const Location landed = writer.arrival(0, bytes);
    writer.after(ProgramOp::copy(output(1), landed, bytes));
    writer.step();
    writer.put(1, output(1), bytes);
    return completed(writer);
}

Threads a_segment_runs() {
    const auto shared = std::make_shared<Workers>();
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
    const auto shared = std::make_shared<Workers>();
    shared->begin(one_step(), 3);
    return {shared->worker(shared, 0), shared->worker(shared, 1)};
}

/// Who looks at a segment in between holds it: its call is its owner's again when it is let go.
Threads a_segment_is_held() {
    const auto shared = std::make_shared<Workers>();
    shared->begin(one_step());
    return {[shared] {
                TimelineNotes notes(nullptr, 0);
                shared->go_round(0);
                if (RunningSegment& segment = shared->parts->queue.at(0);
                    segment.running() && segment.hold()) {
                    require(segment.call().number() == 1, "it is another call's");
                    shared->parts->steps.release(segment, notes);
                }
            },
            [shared] {
                shared->go_round(1);
                if (shared->running.done()) {
                    shared->running.begin(shared->call, {}, 2);
                }
            }};
}

/// Worker 1 posts a put, and what follows, by whom it may, reads a peer's vector.
Program reading(std::uint32_t channel, bool puts) {
    test::ProgramWriter writer({0, 1});
    writer.part();
    writer.step();
    if (puts) {
        writer.put(1, output(1), bytes);
        writer.step();
    }
    Program program = completed(writer);
    program.shares_vectors = true;
    program.peers = program.reads = {channel};
    program.steps.back().reads = {0, 1};
    return program;
}

/// Guards let peers read the vectors of one call at a time.
Threads vectors_are_read() {
    struct Two : Workers {
        Call other_call;
        RunningCall other;
    };
    const auto shared = std::make_shared<Two>();
    shared->groups[1]->result = PutResult::queued;
    shared->begin(reading(1, true));
    // The peers' guards do not change, so both calls have the same hash.
    shared->open_vectors(shared->running.hash());
    RunningCall second;
    second.begin(shared->call, {}, 2);
    shared->other_call = shared->call;
    shared->other_call.signature ^= shared->running.hash() ^ second.hash();
    shared->other.begin(shared->other_call, {shared->vector.data(), shared->result.data()}, 2);
    shared->parts->in_flight.issue_here();
    shared->parts->calls.push_here(shared->other);
    const auto worker = [shared](std::size_t own) {
        return [shared, own] {
            while (!shared->other.done()) {
                shared->go_round(own);
                std::this_thread::yield();
            }
            require(!shared->parts->failure.happened(), "it fails");
        };
    };
    return {worker(0), worker(1)};
}

/// Worker 0 starts what needs the last channel, which worker 1 makes: landing memory (`lands`), or
/// how a peer is reached.
Threads channels_are_made(const std::vector<int>& group_of, bool lands) {
    const auto shared = std::make_shared<Workers>(group_of, false, !lands || group_of.size() > 2);
    const auto channel = static_cast<std::uint32_t>(group_of.size() - 1);
    Program program = lands ? one_step() : reading(channel, false);
    if (lands) {
        program.used_in = {channel};
        program.in_bytes = {0};
    }
    shared->begin(program);
    if (!lands) {
        shared->open_vectors(shared->running.hash());
        shared->groups[1]->reached = &shared->channels.out[channel].endpoint;
    }
    return {[shared] {
                shared->workers[0]->advance();
                shared->workers[0]->advance();
            },
            [shared] { shared->workers[1]->advance(); }};
}

/// A third thread asks how many calls are in flight, which workers complete.
Threads calls_are_counted(const std::vector<int>& group_of) {
    const auto shared = std::make_shared<Workers>(group_of);
    return {[shared] {
                shared->parts->in_flight.issue_here();
                shared->parts->in_flight.complete(false, "");
            },
            [shared] {
                require(shared->parts->in_flight.count() <= 1,
                        "more calls are complete than were issued");
            }};
}

/// As many are issued as are given up by both threads, of which one has settled the failure.
Threads calls_are_given_up() {
    struct Settled : Workers {
        std::atomic<bool> settled{false};
        std::atomic<int> through{0};
        void give_up() {
            parts->in_flight.give_up();
            require(parts->in_flight.count() <= 1, "more calls are given up than were issued");
        }
        void end() {
            if (through.fetch_add(1, std::memory_order_acq_rel) == 1) {
                require(parts->in_flight.count() == 0, "a call is not given up");
            }
        }
    };
    const auto shared = std::make_shared<Settled>();
    return {[shared] {
                shared->parts->in_flight.issue();
                if (shared->settled.load(std::memory_order_seq_cst)) {
                    shared->give_up();
                }
                shared->end();
            },
            [shared] {
                shared->settled.store(true, std::memory_order_seq_cst);
                shared->give_up();
                shared->end();
            }};
}

TEST(Segments, EveryOrderingIsNeeded) {
    constexpr Bounds few{.preemptions = 1, .stale = 1};
    prove({"threads/executor/segment_queue.hpp", "threads/executor/running_segment.hpp",
           "threads/executor/running_segment.cpp", "threads/executor/worker_part.cpp"},
          {{"landing memory is there",
            [] {
                return channels_are_made({0, 1}, true);
            },
            few},
           {"a peer is reached",
            [] {
                return channels_are_made({0, 1}, false);
            },
            few},
           // The second channel is worker 2's, who does nothing.
           {"some landing memory is there",
            [] {
                return channels_are_made({0, 2, 1}, true);
            },
            few},
           {"some peer is reached",
            [] {
                return channels_are_made({0, 2, 1}, false);
            },
            few},
           {"a segment runs", a_segment_runs, few},
           {"places are used again", places_are_used_again, few},
           {"a segment is held", a_segment_is_held, few}});
}

/// A worker lets go of an executor that has no calls, while one is issued: see
/// Worker::has_done_its_work().
Threads a_worker_lets_go() {
    struct Listed : Workers {
        std::atomic<bool> listed{true};
        std::atomic<int> through{0};
        bool is_listed = false, lets_go = false;
        void end() {
            if (through.fetch_add(1, std::memory_order_acq_rel) == 1) {
                require(!is_listed || !lets_go, "nobody looks after a call");
            }
        }
    };
    const auto shared = std::make_shared<Listed>();
    return {[shared] {
                shared->parts->in_flight.issue();
                shared->is_listed = shared->listed.load(std::memory_order_seq_cst);
                shared->end();
            },
            [shared] {
                shared->listed.store(false, std::memory_order_seq_cst);
                shared->lets_go = shared->parts->in_flight.count() == 0;
                shared->end();
            }};
}

TEST(InFlight, EveryOrderingIsNeeded) {
    prove({"threads/executor/in_flight.hpp"},
          {{"calls of one worker are counted", [] { return calls_are_counted({0}); }},
           {"calls of two workers are counted",
            [] {
                return calls_are_counted({0, 1});
            }},
           {"calls are given up", calls_are_given_up},
           {"a worker lets go", a_worker_lets_go},
           {"vectors are read", vectors_are_read, {.preemptions = 1, .stale = 1}}},
          {{"in_flight.hpp", "completed_.compare_exchange_weak",
            "gcc 12 wants no order where it fails that is stronger than where it succeeds"}});
}

}  // namespace
}  // namespace trefoil::weak
