// SPDX-License-Identifier: BSD-3-Clause
// What the workers of a communicator share, and how they and their callers sleep.
#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"
#include "tests/weak_order/quiet_group.hpp"
// The product's headers, over them. executor_files.cpp has the rest.
#include "threads/executor/call_queue.hpp"
#include "threads/executor/counters.hpp"
#include "threads/executor/growing_array.hpp"
#include "threads/executor/waiters.hpp"
#include "threads/executor/wake_up.hpp"

namespace trefoil::weak {
namespace {

constexpr std::chrono::seconds for_ever{3600};

struct Counted {
    std::atomic<std::uint32_t> left{2};
    int written[2] = {};
};

Threads last_of_two() {
    const auto shared = std::make_shared<Counted>();
    const auto worker = [shared](std::size_t own) {
        return [shared, own] {
            note_write(&shared->written[own]);
            if (take_last(shared->left, true)) {
                note_read(&shared->written[0]);
                note_read(&shared->written[1]);
            }
        };
    };
    return {worker(0), worker(1)};
}

Threads one_counts_another_looks() {
    const auto shared = std::make_shared<Counted>();
    return {[shared] {
                note_write(&shared->written[0]);
                take_last(shared->left, false);
                take_last(shared->left, false);
            },
            [shared] {
                if (shared->left.load(std::memory_order_acquire) == 0) {
                    note_read(&shared->written[0]);
                }
            }};
}

TEST(Counters, EveryOrderingIsNeeded) {
    prove({"threads/executor/counters.hpp"},
          {{"the last of two", last_of_two},
           {"one counts, another looks", one_counts_another_looks}});
}

Threads array_grows() {
    const auto array = std::make_shared<GrowingArray<int>>();
    return {[array] {
                for (int i = 0; i < 2; ++i) {
                    array->append([](int& element) { note_write(&element); });
                }
            },
            [array] {
                const std::size_t size = array->size();
                for (std::size_t i = 0; i < size; ++i) {
                    note_read(&(*array)[i]);
                }
            }};
}

TEST(GrowingArray, EveryOrderingIsNeeded) {
    prove({"threads/executor/growing_array.hpp"}, {{"an array grows", array_grows}});
}

/// Two workers do a segment each, and a caller sleeps until the call is done.
struct InFlight {
    InFlight() {
        call.segments = segments;
        running.begin(call, {}, 1);
    }
    std::array<CallSegment, 2> segments{};
    Call call;
    RunningCall running;
    Waiters waiters;
    int results[2] = {};
};

Threads caller_sleeps() {
    const auto shared = std::make_shared<InFlight>();
    const auto worker = [shared](std::size_t own) {
        return [shared, own] {
            note_write(&shared->results[own]);
            if (shared->running.complete_segment()) {
                shared->waiters.announce();
            }
        };
    };
    return {worker(0), worker(1), [shared] {
                shared->waiters.wait([&] { return shared->running.done(); }, 0, {});
                note_read(&shared->results[0]);
                note_read(&shared->results[1]);
            }};
}

TEST(Waiters, EveryOrderingIsNeeded) {
    constexpr const char* library =
        "atomic wait and notify are modelled as the kernel's futex: what the standard library's "
        "own need is not looked into";
    prove({"threads/executor/waiters.hpp", "threads/executor/running_call.hpp"},
          {{"a caller sleeps", caller_sleeps}},
          {{"waiters.hpp", "changes_.load", library},
           {"waiters.hpp", "changes_.fetch_add", library},
           {"waiters.hpp", "changes_.wait", library}});
}

struct Crew {
    explicit Crew(std::size_t workers) : groups(workers) {
        for (auto& group : groups) {
            group = std::make_shared<QuietGroup>(Port{0});
        }
        wake_up = std::make_unique<WakeUp>(groups);
    }
    std::vector<std::shared_ptr<PortGroup>> groups;
    std::unique_ptr<WakeUp> wake_up;
    CallQueue calls;
    RunningCall first, second;
    std::atomic<std::uint32_t> open{0};
    int written[2] = {};
};

Threads calls_are_issued() {
    const auto crew = std::make_shared<Crew>(1);
    return {[crew] {
                std::size_t i = 0;
                for (RunningCall* call : {&crew->first, &crew->second}) {
                    note_write(&crew->written[i++]);
                    crew->calls.push(*call);
                    crew->wake_up->announce_from_outside();
                }
            },
            [crew] {
                for (std::size_t taken = 0; taken < 2;) {
                    const std::uint32_t seen = crew->wake_up->changes();
                    RunningCall* const call = crew->calls.first();
                    if (call == nullptr) {
                        crew->wake_up->sleep(0, seen, for_ever);
                        continue;
                    }
                    require(call == (taken == 0 ? &crew->first : &crew->second), "another order");
                    note_read(&crew->written[taken++]);
                    crew->calls.pop();
                }
            }};
}

Threads sibling_makes_work() {
    const auto crew = std::make_shared<Crew>(2);
    return {[crew] {
                note_write(&crew->written[0]);
                crew->open.store(1, std::memory_order_relaxed);
                crew->wake_up->announce();
            },
            [crew] {
                std::uint32_t seen = crew->wake_up->changes();
                while (crew->open.load(std::memory_order_relaxed) == 0) {
                    crew->wake_up->sleep(1, seen, for_ever);
                    seen = crew->wake_up->changes();
                }
                if (seen > 0) {
                    note_read(&crew->written[0]);
                }
            }};
}

Threads two_siblings_sleep() {
    const auto crew = std::make_shared<Crew>(2);
    const auto worker = [crew](std::size_t own) {
        return [crew, own] {
            std::uint32_t seen = crew->wake_up->changes();
            while (crew->open.load(std::memory_order_relaxed) == 0) {
                crew->wake_up->sleep(own, seen, for_ever);
                seen = crew->wake_up->changes();
            }
        };
    };
    return {[crew] {
                crew->open.store(1, std::memory_order_relaxed);
                crew->wake_up->announce_from_outside();
            },
            worker(0), worker(1)};
}

TEST(WakeUp, EveryOrderingIsNeeded) {
    prove({"threads/executor/wake_up.hpp", "threads/executor/wake_up.cpp"},
          {{"calls are issued", calls_are_issued},
           {"a sibling makes work", sibling_makes_work},
           {"two siblings sleep", two_siblings_sleep, {.preemptions = 2, .stale = 1}}});
}

}  // namespace
}  // namespace trefoil::weak
