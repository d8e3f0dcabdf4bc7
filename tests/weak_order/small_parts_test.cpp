// SPDX-License-Identifier: BSD-3-Clause
// Parts that stand alone: the doorbell, memory of the user's that threads put into, port threads,
// what is told of a channel's uses, requests that are handed over, and what room programs need.
#include <poll.h>
#include <sys/eventfd.h>

#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"

namespace trefoil::weak {
namespace {

/// The event file: how often it was written since it was read. The kernel orders nothing that the
/// program could rely on.
std::atomic<std::uint64_t> event_file;

/// A number that no file has.
int make_event_file(unsigned, int) {
    event_file.store(0);
    return 1 << 20;
}
ssize_t write_event_file(int, const void*, std::size_t written) {
    event_file.fetch_add(1, std::memory_order_relaxed);
    wake_sleepers(event_file.object());
    return static_cast<ssize_t>(written);
}
ssize_t read_event_file(int, void* count, std::size_t) {
    const std::uint64_t times = event_file.exchange(0, std::memory_order_relaxed);
    std::copy_n(&times, 1, static_cast<std::uint64_t*>(count));
    return times == 0 ? -1 : static_cast<ssize_t>(sizeof times);
}
int sleep_at_event_file(pollfd*, nfds_t, const timespec*, const sigset_t*) {
    sleep_while(event_file.object(), 0);
    return 1;
}

}  // namespace
}  // namespace trefoil::weak

#define eventfd trefoil::weak::make_event_file
#define write trefoil::weak::write_event_file
#define read trefoil::weak::read_event_file
#define ppoll trefoil::weak::sleep_at_event_file
// The product's files, over them.
#include "backend/system/doorbell.cpp"
#undef eventfd
#undef write
#undef read
#undef ppoll
#include "backend/memory/registration.cpp"
#include "comm/api/request_list.hpp"
#include "threads/executor/channel_uses.hpp"
#include "threads/executor/program_sizes.hpp"
#include "topo/host.hpp"

namespace trefoil {
namespace {

/// One for all threads: on no machine they spin.
std::vector<int> cores_of_this_run() {
    return {0};
}

}  // namespace
}  // namespace trefoil

#define allowed_cores cores_of_this_run
#include "threads/workers/port_threads.cpp"
#undef allowed_cores

namespace trefoil {

std::uint64_t random_number() {
    return 0;
}

namespace memory {

void MakersSpace::fill() {}
void require_same_space(MakersSpace&, std::int32_t) {}

}  // namespace memory
}  // namespace trefoil

namespace trefoil::weak {
namespace {

constexpr std::chrono::seconds for_ever{3600};

struct Rung {
    Doorbell bell;
    int written[2] = {};
};

Threads a_bell_is_rung() {
    const auto shared = std::make_shared<Rung>();
    return {[shared] {
                note_write(&shared->written[0]);
                shared->bell.ring();
            },
            [shared] {
                while (!shared->bell.wait(for_ever)) {
                }
                note_read(&shared->written[0]);
            }};
}

/// The second one may find it rung already, and the owner awake.
Threads two_ring() {
    const auto shared = std::make_shared<Rung>();
    struct Seen {
        std::atomic<int> rings{0};
    };
    const auto seen = std::make_shared<Seen>();
    const auto ring = [shared, seen](std::size_t own) {
        return [shared, seen, own] {
            note_write(&shared->written[own]);
            seen->rings.fetch_add(1, std::memory_order_relaxed);
            shared->bell.ring();
        };
    };
    return {ring(0), ring(1), [shared, seen] {
                bool done = false;
                while (!done) {
                    if (shared->bell.wait(for_ever)) {
                        done = seen->rings.load(std::memory_order_relaxed) == 2;
                    }
                }
            }};
}

TEST(Doorbell, EveryOrderingIsNeeded) {
    prove({"backend/system/doorbell.cpp"},
          {{"a bell is rung", a_bell_is_rung},
           {"two ring", two_ring, {.preemptions = 2, .stale = 1}}});
}

/// The program's memory, which is another's once it is no longer registered.
struct Registered {
    std::array<std::byte, 8> memory{};
    std::shared_ptr<memory::Registration> registration =
        memory::Registration::make(memory.data(), memory.size());
};

Threads memory_is_taken_back() {
    const auto shared = std::make_shared<Registered>();
    return {[shared] {
                const std::array<std::byte, 8> source{};
                shared->registration->write(0, source.data(), source.size());
            },
            [shared] {
                shared->registration->close();
                note_write(shared->memory.data());
            }};
}

TEST(Registration, EveryOrderingIsNeeded) {
    prove({"backend/memory/registration.cpp"}, {{"memory is taken back", memory_is_taken_back}});
}

struct PortThreadsRun {
    std::unique_ptr<PortThreads> threads;
    int given = 0, made[2] = {};
};

/// Twice, so that what the first run leaves behind is no help to the second.
Threads port_threads_run(int threads) {
    const auto shared = std::make_shared<PortThreadsRun>();
    shared->threads = std::make_unique<PortThreads>(threads, std::vector<int>{});
    return {[shared, threads] {
        for (int run = 0; run < 2; ++run) {
            note_write(&shared->given);
            auto work = [&](int worker) {
                note_read(&shared->given);
                note_write(&shared->made[worker]);
            };
            require(shared->threads->run(work), "nobody works");
            for (int worker = 0; worker < threads; ++worker) {
                note_read(&shared->made[worker]);
            }
        }
        shared->threads.reset();
    }};
}

TEST(PortThreads, EveryOrderingIsNeeded) {
    prove({"threads/workers/port_threads.cpp"},
          {{"a port thread runs", [] { return port_threads_run(1); }},
           {"two port threads run",
            [] { return port_threads_run(2); },
            {.preemptions = 1, .stale = 1}}});
}

/// Worker 0 begins a use and shows it; the group's owner is told of words and puts by them.
struct ChannelEnd {
    OutUses uses;
    std::atomic<std::uint32_t> shown{0};  ///< as segments are
};

/// Words are known by their numbers modulo eight, so an old one must not be taken for a new one.
Threads words_are_used_again() {
    const auto end = std::make_shared<ChannelEnd>();
    constexpr std::uint32_t before = 8, last = 10;
    for (std::uint32_t use = 0; use < before; ++use) {
        end->uses.begin(true, Ring::few);
        end->uses.acknowledge(use, Ring::few);
    }
    end->shown.store(before);
    return {[end] {
                for (std::uint32_t use = before; use < last; ++use) {
                    end->uses.begin(true, Ring::few);
                    end->shown.store(use + 1, std::memory_order_release);
                }
            },
            [end] {
                const std::uint32_t shown = end->shown.load(std::memory_order_acquire);
                for (std::uint32_t use = before; use < shown; ++use) {
                    require(end->uses.may_put(use, Ring::few), "a word is lost");
                    require(!end->uses.may_put(use + 2, Ring::few) &&
                                !end->uses.may_put(use + 6, Ring::few),
                            "an old word is taken for a new one");
                }
                for (std::uint32_t use = before; use < shown; ++use) {
                    end->uses.acknowledge(use, Ring::few);
                    require(end->uses.may_put(use + 2, Ring::few), "a word is lost");
                }
            }};
}

/// Nothing is ordered by them.
TEST(OutUses, NeedNoOrdering) {
    prove({}, {{"words are used again", words_are_used_again}});
}

struct Handed {
    struct Request {
        Request* next = nullptr;
        int written = 0;
    };
    c_api::RequestList<Request> list;
    Request requests[2];
};

Threads requests_are_handed_over() {
    const auto shared = std::make_shared<Handed>();
    const auto give = [shared](std::size_t own) {
        return [shared, own] {
            note_write(&shared->requests[own].written);
            shared->list.push(shared->requests[own]);
        };
    };
    return {give(0), give(1), [shared] {
                for (auto* request = shared->list.take_all(); request != nullptr;) {
                    note_read(&request->written);
                    request = std::exchange(request->next, nullptr);
                }
            }};
}

TEST(RequestList, EveryOrderingIsNeeded) {
    prove({"comm/api/request_list.hpp"}, {{"requests are handed over", requests_are_handed_over}});
}

/// A program is added while another one runs; who is told of it makes room for it.
Threads room_is_made() {
    struct Needed {
        RoomNeeded room;
        Program program;
        std::atomic<bool> is_issued{false};
    };
    const auto shared = std::make_shared<Needed>();
    shared->program.scratch_bytes = 1;
    return {[shared] {
                shared->room.include(shared->program, 0, 0);
                shared->is_issued.store(true, std::memory_order_release);
            },
            [shared] {
                std::uint64_t made = 0;
                std::size_t scratch_bytes = 0;
                const bool is_there = shared->is_issued.load(std::memory_order_acquire);
                shared->room.make_room(
                    made, [&](const ProgramSizes& sizes) { scratch_bytes = sizes.scratch_bytes; });
                require(!is_there || scratch_bytes == 1, "there is no room for a call");
            }};
}

/// The mutex orders all.
TEST(RoomNeeded, NeedsNoOrdering) {
    prove({}, {{"room is made", room_is_made}});
}

}  // namespace
}  // namespace trefoil::weak
