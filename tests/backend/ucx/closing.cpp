// SPDX-License-Identifier: BSD-3-Clause
// The end of UCX groups: a group that closes loses nothing, and a peer that dies hangs nobody.
// UCX_TLS decides what is tested, as in the conformance suite.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "backend/ucx/ucx.hpp"

namespace trefoil {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t large = 1 << 20;
constexpr std::uint32_t small_puts = 200;
constexpr std::chrono::seconds limit{20};

std::unique_ptr<PortGroup> open_group() {
    BackendConfig config;
    config.groups = {{Port{0}}};
    return std::move(ucx_transport().open(config)[0]);
}

// Counts what a group reports.
struct Tally {
    std::size_t sent = 0;
    std::size_t arrived = 0;
    std::size_t failed = 0;

    void poll(PortGroup& group) {
        std::array<Event, 16> events;
        const std::size_t count = group.poll(events);
        for (std::size_t i = 0; i < count; ++i) {
            sent += events[i].kind == Event::Kind::sent;
            failed += events[i].kind == Event::Kind::failed;
            arrived += events[i].kind == Event::Kind::arrived;
        }
    }
};

bool until(const std::function<bool()>& done) {
    const Clock::time_point deadline = Clock::now() + limit;
    while (!done()) {
        if (Clock::now() > deadline) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

// A group with memory, as a peer sees it.
struct Side {
    std::unique_ptr<PortGroup> group = open_group();
    LocalMemory memory = group->allocate(large);
    std::string address = group->address(Port{0});
    std::string description = group->describe(memory);
    std::string spare = group->describe(group->allocate(64));
    Tally tally;
};

struct Path {
    Path(Side& from, const std::string& description, const std::string& address)
        : side(from),
          remote(from.group->import_memory(description)),
          peer(from.group->connect(Port{0}, address)) {}
    PutResult put(std::size_t bytes) {
        const PutResult result = side.group->put({.port = Port{0},
                                                  .peer = peer,
                                                  .source = side.memory.data,
                                                  .target = remote,
                                                  .bytes = bytes,
                                                  .notification = 7,
                                                  .cookie = 1});
        side.tally.poll(*side.group);
        return result;
    }
    Side& side;
    RemoteMemory remote;
    Peer peer;
};

// Shared with the child that is going to die.
struct Meeting {
    std::atomic<int> stage{0};
    std::size_t address_bytes = 0;
    std::size_t memory_bytes = 0;
    char address[2048] = {};
    char memory[2048] = {};
};

std::shared_ptr<Meeting> shared_meeting() {
    void* const shared =
        mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return {new (shared) Meeting, [](Meeting* meeting) { munmap(meeting, sizeof(Meeting)); }};
}

// The child: opens a group, tells where it is, takes one put, and polls until it is killed, or
// closes its group properly after `at_the_end`.
void live(
    Meeting& meeting, bool until_killed, const std::function<void()>& at_the_end = [] {}) {
    Side side;
    meeting.address_bytes = side.address.copy(meeting.address, sizeof meeting.address);
    meeting.memory_bytes = side.description.copy(meeting.memory, sizeof meeting.memory);
    meeting.stage = 1;
    until([&] {
        side.tally.poll(*side.group);
        if (side.tally.arrived == 1) {
            meeting.stage = 2;
        }
        return !until_killed && side.tally.arrived == 1;
    });
    at_the_end();
}

// The other child: puts to the first until that is gone, and on.
void survive(Meeting& meeting) {
    ASSERT_TRUE(until([&] { return meeting.stage >= 1; }));
    Side source;
    Path there(source, std::string(meeting.memory, meeting.memory_bytes),
               std::string(meeting.address, meeting.address_bytes));
    ASSERT_NE(there.put(8), PutResult::failed);
    ASSERT_TRUE(until([&] {
        source.tally.poll(*source.group);
        return meeting.stage == 3;
    }));
    // Whatever the transport makes of it (an error, a put that is never sent, or "again" for
    // ever), every call returns, nothing crashes, and the group can be closed.
    const std::size_t before = source.tally.sent;
    std::size_t queued = 0;
    bool refused = false;
    for (int i = 0; i < 50; ++i) {
        const PutResult result = there.put(i % 2 == 0 ? large : 8);
        queued += result == PutResult::queued;
        refused |= result == PutResult::failed;
        source.group->wait(std::chrono::milliseconds(2));
    }
    EXPECT_LE(source.tally.sent - before, queued);
    if (source.tally.failed > 0 || refused) {
        EXPECT_FALSE(source.group->error_text().empty());
    }
    source.group.reset();
}

pid_t start(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        body();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    return child;
}

// As an exit code, or -signal.
int code_of(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Both sides are children, because a process that has used UCX should not fork.
void lose_peer(bool by_kill) {
    const auto meeting = shared_meeting();
    const pid_t peer = start([&] { live(*meeting, by_kill); });
    const pid_t survivor = start([&] { survive(*meeting); });
    ASSERT_GT(peer, 0);
    ASSERT_GT(survivor, 0);
    EXPECT_TRUE(until([&] { return meeting->stage == 2; }));
    if (by_kill) {
        EXPECT_EQ(kill(peer, SIGKILL), 0);
    }
    EXPECT_EQ(waitpid(peer, nullptr, 0), peer);
    meeting->stage = 3;
    EXPECT_EQ(code_of(survivor), 0);
}

TEST(UcxClosing, APeerThatIsKilledNeverHangsUs) {
    lose_peer(true);
}

TEST(UcxClosing, APeerThatLeavesNeverHangsUs) {
    lose_peer(false);
}

// The child that stops looking at what comes, and the one that has something large for it.
void look_no_more(Meeting& meeting) {
    live(meeting, false, [&] { (void)until([&] { return meeting.stage == 4; }); });
}

void wait_to_be_fetched(Meeting& meeting) {
    ASSERT_TRUE(until([&] { return meeting.stage >= 1; }));
    Side source;
    Path there(source, std::string(meeting.memory, meeting.memory_bytes),
               std::string(meeting.address, meeting.address_bytes));
    std::size_t queued = there.put(8) == PutResult::queued;
    ASSERT_TRUE(until([&] {
        source.tally.poll(*source.group);
        return meeting.stage == 2;
    }));
    if (there.remote.base != 0) {
        meeting.stage = 3;
        return;  // memory is mapped: nothing waits
    }
    const PutResult result = there.put(large);
    ASSERT_EQ(result, PutResult::queued);
    ++queued;
    meeting.stage = 3;
    ASSERT_TRUE(until([&] { return meeting.stage == 4; }));
    EXPECT_TRUE(until([&] {
        queued += there.put(8) == PutResult::queued;
        source.group->wait(std::chrono::milliseconds(2));
        return source.tally.failed > 0 && source.tally.sent + source.tally.failed == queued;
    })) << source.tally.sent
        << " sent, " << source.tally.failed << " failed of " << queued;
}

// UCX itself never ends such a message. It must not keep its source for ever.
TEST(UcxClosing, AMessageThatWaitsToBeFetchedFailsWithItsConnection) {
    const auto meeting = shared_meeting();
    const pid_t peer = start([&] { look_no_more(*meeting); });
    const pid_t survivor = start([&] { wait_to_be_fetched(*meeting); });
    ASSERT_GT(peer, 0);
    ASSERT_GT(survivor, 0);
    EXPECT_TRUE(until([&] { return meeting->stage == 3; }));
    EXPECT_EQ(kill(peer, SIGKILL), 0);
    EXPECT_EQ(waitpid(peer, nullptr, 0), peer);
    meeting->stage = 4;
    EXPECT_EQ(code_of(survivor), 0);
}

// The child that comes late: whom it would connect to has ended.
void come_late(const Meeting& meeting) {
    ASSERT_TRUE(until([&] { return meeting.stage == 3; }));
    Side late;
    const std::string address(meeting.address, meeting.address_bytes);
    const std::string memory(meeting.memory, meeting.memory_bytes);
    // Where memory is mapped; elsewhere there is nothing to open, and puts will fail.
    const bool maps = late.group->import_memory(late.description).base != 0;
    const std::array<std::function<void()>, 2> calls{
        [&] { (void)late.group->import_memory(memory); },
        [&] { (void)late.group->connect(Port{0}, address); }};
    for (std::size_t i = 0; maps && i < calls.size(); ++i) {
        try {
            calls[i]();
            ADD_FAILURE() << "call " << i << ": memory of a process that has ended was opened";
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::peer_lost) << error.what();
            EXPECT_NE(std::string(error.what()).find("has ended"), std::string::npos)
                << error.what();
        }
    }
}

TEST(UcxClosing, WhoComesLateDoesNotOpenTheMemoryOfTheDead) {
    const auto meeting = shared_meeting();
    const pid_t late = start([&] { come_late(*meeting); });
    const pid_t owner = start([&] { live(*meeting, true); });
    ASSERT_GT(owner, 0);
    ASSERT_GT(late, 0);
    EXPECT_TRUE(until([&] { return meeting->stage == 1; }));
    EXPECT_EQ(kill(owner, SIGKILL), 0);
    EXPECT_EQ(waitpid(owner, nullptr, 0), owner);
    meeting->stage = 3;
    EXPECT_EQ(code_of(late), 0);
}

TEST(UcxClosing, NothingThatWasAcceptedIsLost) {
    Side source;
    Side target;
    Path there(source, target.description, target.address);
    Path back(target, source.spare, source.address);
    const auto put = [&](std::size_t bytes) {
        ASSERT_TRUE(until([&] {
            const PutResult result = there.put(bytes);
            EXPECT_NE(result, PutResult::failed) << source.group->error_text();
            target.tally.poll(*target.group);
            return result != PutResult::again;
        }));
    };
    put(8);
    ASSERT_TRUE(until([&] {
        source.tally.poll(*source.group);
        target.tally.poll(*target.group);
        return target.tally.arrived == 1;
    }));
    // Unread bytes at the source, a large put and many small ones; then it goes.
    for (int i = 0; i < 10; ++i) {
        EXPECT_NE(back.put(8), PutResult::failed);
    }
    std::memset(source.memory.data, 0x5a, large);
    put(large);
    for (std::uint32_t i = 0; i < small_puts; ++i) {
        put(8);
    }
    // A large put goes at the pace of the target, so that must run while the source closes.
    std::thread closing([&source] { source.group.reset(); });
    EXPECT_TRUE(until([&] {
        target.tally.poll(*target.group);
        return target.tally.arrived == 2 + small_puts;
    })) << "only "
        << target.tally.arrived << " of " << 2 + small_puts << " puts arrived";
    closing.join();
    for (std::size_t i = 0; i < large; ++i) {
        ASSERT_EQ(target.memory.data[i], std::byte{0x5a}) << "byte " << i;
    }
}

TEST(UcxClosing, AGroupThatNobodyAnsweredClosesAtOnce) {
    Side source;
    Side target;
    const Path unused(source, target.description, target.address);
    const Clock::time_point before = Clock::now();
    source.group.reset();
    EXPECT_LT(Clock::now() - before, limit);
    target.tally.poll(*target.group);
    EXPECT_EQ(target.tally.arrived + target.tally.failed, 0U);
}

}  // namespace
}  // namespace trefoil
