// SPDX-License-Identifier: BSD-3-Clause
// Who drives an engine, who is given new work, how all stop for what needs all groups in one hand,
// and how calls are counted and given up.
#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"
#include "tests/weak_order/quiet_group.hpp"
// The product's headers, over them. executor_files.cpp has the rest.
#include "tests/threads/executor/program_writer.hpp"
#include "threads/executor/executor.hpp"

namespace trefoil::weak {
namespace {

constexpr std::size_t bytes = 32;  // of the result

/// Nothing but its end; or not even that comes.
Program one_step(bool ends) {
    test::ProgramWriter writer({});
    writer.part();
    writer.step();
    writer.end(ProgramOp::copy({Location::output, 0}, {Location::input, 0}, bytes));
    Program program = writer.take(false);
    program.steps[0].events += ends ? 0 : 1;
    return program;
}

/// A communicator of a rank, and a call of its.
struct Calls {
    explicit Calls(const Engine::Groups& groups, bool ends = true) : program(one_step(ends)) {
        channels.groups = groups;
        channels.rings = LandingRings(bytes, 0);
        call.text = "the scenario's call";
        call.segments = segments;
        running.begin(call, vectors(), 0);  // a thread may wait for it before it is issued
    }
    void attach(Engine& engine) {
        executor = std::make_unique<Executor>(channels, engine, ExecutorOptions{});
        executor->reserve(program);
    }
    CallVectors vectors() { return {vector.data(), result.data()}; }
    Status run() {
        note_write(vector.data());
        const Status status = executor->run(call, vectors());
        note_read(result.data());
        note_write(vector.data());
        return status;
    }
    void issue() { executor->issue(running, call, vectors()); }

    std::array<std::byte, bytes> vector{}, result{};
    Channels channels;
    Program program;
    std::array<CallSegment, 1> segments{CallSegment{&program, 0}};
    Call call;
    RunningCall running;
    std::unique_ptr<Executor> executor;
};

/// A rank with one group, which its callers drive.
struct Driven {
    explicit Driven(std::size_t communicators = 1) {
        for (std::size_t i = 0; i < communicators; ++i) {
            calls.push_back(std::make_unique<Calls>(groups));
            calls.back()->attach(engine);
        }
    }
    /// By both threads of a scenario. True: it is the last one.
    bool is_last() { return through.fetch_add(1, std::memory_order_acq_rel) == 1; }

    Engine::Groups groups{std::make_shared<QuietGroup>(Port{0})};
    PortThreads threads{0, {}};
    Engine engine{groups, Engine::Member{0, 2}, threads, false};
    std::vector<std::unique_ptr<Calls>> calls;
    std::atomic<int> through{0};
};

/// One of them drives, and the other one waits, or both take turns.
Threads two_threads_call() {
    const auto rank = std::make_shared<Driven>(2);
    return {[rank] { rank->calls[0]->run(); }, [rank] { rank->calls[1]->run(); }};
}

/// Who waits may sleep when the call is issued.
Threads another_thread_issues() {
    const auto rank = std::make_shared<Driven>();
    return {[rank] {
                rank->calls[0]->executor->wait(rank->calls[0]->running);
                note_read(rank->calls[0]->result.data());
            },
            [rank] { rank->calls[0]->issue(); }};
}

/// The same, of a communicator that the worker looks after already.
Threads another_thread_issues_again() {
    const auto rank = std::make_shared<Driven>();
    rank->engine.enlist(*rank->calls[0]->executor);
    rank->engine.advance(*rank->calls[0]->executor);
    return {[rank] { rank->calls[0]->executor->wait(rank->calls[0]->running); },
            [rank] { rank->calls[0]->issue(); }};
}

/// One communicator has no work left, and is given some.
Threads work_comes_again() {
    const auto rank = std::make_shared<Driven>(2);
    const auto end = [rank] {
        if (rank->is_last()) {
            while (rank->calls[1]->executor->calls_in_flight() != 0) {
                require(rank->engine.advance(*rank->calls[1]->executor), "a call is forgotten");
            }
        }
    };
    return {[rank, end] {
                for (const auto& calls : rank->calls) {
                    rank->engine.enlist(*calls->executor);
                }
                rank->engine.advance(*rank->calls[0]->executor);
                rank->engine.advance(*rank->calls[0]->executor);
                end();
            },
            [rank, end] {
                rank->calls[1]->issue();
                end();
            }};
}

/// A communicator begins and ends while a thread waits for another one's call.
Threads a_communicator_begins() {
    const auto rank = std::make_shared<Driven>();
    return {[rank] { rank->calls[0]->executor->wait(rank->calls[0]->running); },
            [rank] {
                Calls other(rank->groups);
                other.attach(rank->engine);
                other.executor.reset();
                rank->calls[0]->issue();
            }};
}

/// A thread holds the engine while another one waits for a call.
Threads an_engine_is_held() {
    const auto rank = std::make_shared<Driven>();
    return {[rank] { rank->calls[0]->executor->wait(rank->calls[0]->running); },
            [rank] {
                { const Engine::Exclusive held(rank->engine); }
                rank->calls[0]->issue();
            }};
}

/// The same, of a thread that does not wait longer than it may.
Threads an_engine_is_held_in_time() {
    const auto rank = std::make_shared<Driven>();
    return {[rank] { rank->calls[0]->executor->wait(rank->calls[0]->running); },
            [rank] {
                {
                    const Engine::Exclusive held(
                        rank->engine, std::chrono::steady_clock::now() + std::chrono::hours(1));
                    require(held.holds(), "it is not held");
                    rank->calls[0]->executor->report();
                }
                rank->calls[0]->issue();
            }};
}

/// What a worker has connected is known to who gives up.
Threads vectors_are_withdrawn() {
    struct Connected : Driven {
        Failure failure{engine.wake_up(), 0};
        PeerReads reads{calls[0]->channels, failure};
    };
    const auto rank = std::make_shared<Connected>();
    const std::vector<std::string> cards(2, encode(rank->engine.card()));
    rank->engine.meet(std::make_shared<Cards>(cards), [](std::string_view) { return 0; });
    rank->calls[0]->channels.add_out(1, Port{0});
    rank->engine.enlist(*rank->calls[0]->executor);
    return {[rank] { rank->engine.advance(*rank->calls[0]->executor); },
            [rank] {
                const Engine::Exclusive held(rank->engine);
                rank->reads.withdraw();
            }};
}

/// The call is given up by one of both threads, and once. `by_another`: as that communicator fails.
Threads a_call_is_issued_late(bool by_another) {
    const auto rank = std::make_shared<Driven>(2);
    const auto end = [rank] {
        if (rank->is_last()) {
            require(rank->calls[0]->executor->calls_in_flight() == 0, "a call is not given up");
        }
    };
    return {[rank, end] {
                rank->calls[0]->issue();
                end();
            },
            [rank, end, by_another] {
                if (by_another) {
                    const Engine::Exclusive held(rank->engine);
                    rank->engine.fail_all_but(*rank->calls[1]->executor, Cause{Status::peer_lost});
                } else {
                    rank->calls[0]->executor->give_up(Cause{Status::peer_lost});
                }
                end();
            }};
}

/// One may come while others are taken.
Threads calls_are_queued() {
    struct Queued {
        CallQueue calls;
        RunningCall running[2];
        int written[2] = {};
    };
    const auto shared = std::make_shared<Queued>();
    return {[shared] {
                for (std::size_t i = 0; i < 2; ++i) {
                    note_write(&shared->written[i]);
                    shared->calls.push(shared->running[i]);
                }
            },
            [shared] {
                for (std::size_t i = 0; shared->calls.first() != nullptr; ++i) {
                    require(shared->calls.first() == &shared->running[i], "another order");
                    note_read(&shared->written[i]);
                    shared->calls.pop();
                }
            }};
}

/// A rank whose groups have threads of their own. Its engine begins and ends in the run.
struct Served {
    explicit Served(int workers, bool ends = true)
        : threads(std::make_unique<PortThreads>(workers, std::vector<int>{})) {
        for (int i = 0; i < workers; ++i) {
            groups.push_back(std::make_shared<QuietGroup>(Port{i}));
        }
        calls = std::make_unique<Calls>(groups, ends);
    }
    void begin() {
        engine = std::make_unique<Engine>(groups, Engine::Member{0, 1}, *threads, false);
        calls->attach(*engine);
    }
    void end() {
        calls->executor.reset();
        engine.reset();
        threads.reset();
    }
    Engine::Groups groups;
    std::unique_ptr<PortThreads> threads;
    std::unique_ptr<Calls> calls;
    std::unique_ptr<Engine> engine;
};

Threads port_threads_serve(int workers) {
    const auto rank = std::make_shared<Served>(workers);
    return {[rank] {
        rank->begin();
        rank->calls->run();
        rank->calls->run();
        rank->end();
    }};
}

/// Of a call that does not end. The other thread waits until there is an engine.
Threads a_call_fails() {
    struct Failing : Served {
        Failing() : Served(1, false) {}
        std::atomic<bool> has_begun{false};
    };
    const auto rank = std::make_shared<Failing>();
    return {[rank] {
                rank->begin();
                rank->has_begun.store(true, std::memory_order_release);
                rank->has_begun.notify_all();
                require(rank->calls->run() == Status::peer_lost, "another status");
                rank->end();
            },
            [rank] {
                rank->has_begun.wait(false, std::memory_order_acquire);
                rank->calls->executor->give_up(Cause{Status::peer_lost});
            }};
}

TEST(Engine, EveryOrderingIsNeeded) {
    constexpr Bounds few{.preemptions = 1, .stale = 1};
    prove({"threads/executor/engine.hpp", "threads/executor/engine.cpp",
           "threads/executor/worker.cpp", "threads/executor/executor.hpp",
           "threads/executor/executor.cpp", "threads/executor/call_queue.hpp"},
          {{"another thread issues", another_thread_issues, few},
           {"another thread issues again", another_thread_issues_again, few},
           {"work comes again", work_comes_again, few},
           {"calls are queued", calls_are_queued},
           {"a call is issued late", [] { return a_call_is_issued_late(false); }, few},
           {"a call is issued too late", [] { return a_call_is_issued_late(true); }, few},
           {"vectors are withdrawn", vectors_are_withdrawn, few},
           {"an engine is held in time", an_engine_is_held_in_time, few},
           {"two threads call", two_threads_call, few},
           {"a communicator begins", a_communicator_begins, few},
           {"an engine is held", an_engine_is_held, {.preemptions = 2, .stale = 1}},
           {"a port thread serves", [] { return port_threads_serve(1); }, few},
           {"a call fails", a_call_fails, {.preemptions = 0, .stale = 1}}});
}

}  // namespace
}  // namespace trefoil::weak
