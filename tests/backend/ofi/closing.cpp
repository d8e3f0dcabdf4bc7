// SPDX-License-Identifier: BSD-3-Clause
// The end of libfabric groups: a group that closes loses nothing, and a peer that dies is reported.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "backend/ofi/ofi.hpp"

namespace trefoil {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t large = 1 << 20;
constexpr std::uint32_t small_puts = 200;
constexpr std::chrono::seconds limit{20};

std::unique_ptr<PortGroup> open_group(const std::string& provider) {
    BackendConfig config;
    config.provider = provider;
    config.groups = {{Port{0}}};
    return std::move(ofi_transport().open(config)[0]);
}

bool is_offered(const std::string& provider) {
    for (const ProviderInfo& info : ofi_transport().providers()) {
        if (info.provider == provider) {
            return true;
        }
    }
    return false;
}

// Counts what a group reports.
struct Tally {
    std::size_t sent = 0;
    std::size_t arrived = 0;
    std::size_t failed = 0;
    std::uint64_t last = 0;

    void poll(PortGroup& group) {
        std::array<Event, 16> events;
        const std::size_t count = group.poll(events);
        for (std::size_t i = 0; i < count; ++i) {
            sent += events[i].kind == Event::Kind::sent;
            failed += events[i].kind == Event::Kind::failed;
            if (events[i].kind == Event::Kind::arrived) {
                ++arrived;
                last = events[i].notification;
            }
        }
    }
};

/// From the beginning of the memory to the beginning of the target.
PutResult put_to(PortGroup& group, Peer peer, const LocalMemory& from, const RemoteMemory& target,
                 std::size_t bytes, std::uint64_t notification) {
    return group.put({.port = Port{0},
                      .peer = peer,
                      .source = from.data,
                      .descriptor = from.descriptor,
                      .target = target,
                      .bytes = bytes,
                      .notification = notification,
                      .cookie = notification});
}

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

class OfiClosing : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        if (!is_offered(GetParam())) {
            GTEST_SKIP() << "libfabric does not offer \"" << GetParam() << "\" here";
        }
    }
};

TEST_P(OfiClosing, NothingThatWasAcceptedIsLost) {
    const auto target = open_group(GetParam());
    auto source = open_group(GetParam());
    const LocalMemory from = source->allocate(large);
    const LocalMemory to = target->allocate(large);
    const LocalMemory back = source->allocate(64);
    const Peer peer = source->connect(Port{0}, target->address(Port{0}));
    const Peer reverse = target->connect(Port{0}, source->address(Port{0}));
    const RemoteMemory remote = source->import_memory(target->describe(to));
    const RemoteMemory remote_back = target->import_memory(source->describe(back));
    Tally at_source;
    Tally at_target;
    const auto put = [&](std::size_t bytes, std::uint64_t notification) {
        PutResult result = PutResult::again;
        EXPECT_TRUE(until([&] {
            result = put_to(*source, peer, from, remote, bytes, notification);
            if (result == PutResult::again) {
                at_source.poll(*source);
                at_target.poll(*target);
            }
            return result != PutResult::again;
        }));
        ASSERT_NE(result, PutResult::failed) << source->error_text();
    };
    put(8, 1);
    ASSERT_TRUE(until([&] {
        at_target.poll(*target);
        return at_target.arrived == 1;
    }));
    // Unread bytes at the source, a large put and many small ones; then it goes.
    for (int i = 0; i < 10; ++i) {
        put_to(*target, reverse, to, remote_back, 8, 7);
    }
    std::memset(from.data, 0x5a, large);
    put(large, 2);
    for (std::uint32_t i = 0; i < small_puts; ++i) {
        put(8, 3 + i);
    }
    // A large put goes at the pace of the target, so that must run while the source closes.
    std::thread closing([&source] { source.reset(); });
    EXPECT_TRUE(until([&] {
        at_target.poll(*target);
        return at_target.arrived >= 2 + small_puts;
    })) << "only "
        << at_target.arrived << " of " << 2 + small_puts << " puts arrived";
    closing.join();
    EXPECT_EQ(at_target.last, 2 + small_puts);
    for (std::size_t i = 0; i < large; ++i) {
        ASSERT_EQ(to.data[i], std::byte{0x5a}) << "byte " << i;
    }
}

TEST_P(OfiClosing, SmallPutsOutliveTheirSender) {
    const auto target = open_group(GetParam());
    auto source = open_group(GetParam());
    const LocalMemory from = source->allocate(64);
    const LocalMemory to = target->allocate(64);
    const Peer peer = source->connect(Port{0}, target->address(Port{0}));
    const RemoteMemory remote = source->import_memory(target->describe(to));
    Tally at_source;
    Tally at_target;
    std::uint32_t accepted = 0;
    EXPECT_TRUE(until([&] {
        const PutResult result = put_to(*source, peer, from, remote, 8, accepted);
        accepted += result == PutResult::done || result == PutResult::queued;
        if (accepted < 2) {
            at_source.poll(*source);
            at_target.poll(*target);
        }
        return accepted == small_puts;
    }));
    source.reset();
    EXPECT_TRUE(until([&] {
        at_target.poll(*target);
        return at_target.arrived == small_puts;
    })) << "only "
        << at_target.arrived << " of " << small_puts << " puts arrived";
}

// Shared with the child that is going to die.
struct Meeting {
    std::atomic<int> stage{0};
    std::size_t address_bytes = 0;
    std::size_t memory_bytes = 0;
    char address[512] = {};
    char memory[512] = {};
};

// The child: opens a group, tells where it is, takes one put, and polls until it is killed, or
// closes its group properly.
void live(Meeting& meeting, const std::string& provider, bool until_killed) {
    const auto group = open_group(provider);
    const std::string address = group->address(Port{0});
    const std::string memory = group->describe(group->allocate(large));
    meeting.address_bytes = address.copy(meeting.address, sizeof meeting.address);
    meeting.memory_bytes = memory.copy(meeting.memory, sizeof meeting.memory);
    meeting.stage = 1;
    Tally tally;
    until([&] {
        tally.poll(*group);
        if (tally.arrived == 1) {
            meeting.stage = 2;
        }
        return !until_killed && tally.arrived == 1;
    });
}

bool has_region_of(pid_t process) {
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
        if (entry.path().filename().string().starts_with(std::to_string(process) + ":")) {
            return true;
        }
    }
    return false;
}

void lose_peer(const std::string& provider, bool by_kill) {
    void* shared =
        mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    auto* meeting = new (shared) Meeting;
    const pid_t child = fork();
    if (child == 0) {
        live(*meeting, provider, by_kill);
        _exit(0);
    }
    ASSERT_GT(child, 0);
    ASSERT_TRUE(until([&] { return meeting->stage >= 1; }));
    auto group = open_group(provider);
    const LocalMemory from = group->allocate(large);
    const Peer peer =
        group->connect(Port{0}, std::string(meeting->address, meeting->address_bytes));
    const RemoteMemory remote =
        group->import_memory(std::string(meeting->memory, meeting->memory_bytes));
    Tally tally;
    PutResult result = PutResult::again;
    const auto put = [&](std::size_t bytes) {
        result = put_to(*group, peer, from, remote, bytes, 1);
        tally.poll(*group);
        return result != PutResult::again;
    };
    ASSERT_TRUE(until([&] { return put(8); }));
    ASSERT_TRUE(until([&] {
        tally.poll(*group);
        return meeting->stage == 2;
    }));
    if (by_kill) {
        ASSERT_EQ(kill(child, SIGKILL), 0);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    // Whatever the transport makes of it (an error, a put that is never sent, or "again" for
    // ever), every call returns, nothing crashes, and the group can be closed.
    const std::size_t before = tally.sent;
    std::size_t queued = 0;
    for (int i = 0; i < 50; ++i) {
        put(i % 2 == 0 ? large : 8);
        queued += result == PutResult::queued;
        group->wait(std::chrono::milliseconds(2));
    }
    EXPECT_LE(tally.sent - before, queued);
    if (tally.failed > 0 || result == PutResult::failed) {
        EXPECT_FALSE(group->error_text().empty());
    }
    group.reset();
    // The next to open sweeps up what the dead left in shared memory.
    open_group(provider).reset();
    EXPECT_FALSE(has_region_of(child));
    munmap(shared, sizeof(Meeting));
}

TEST_P(OfiClosing, APeerThatIsKilledNeverHangsUs) {
    lose_peer(GetParam(), true);
}

TEST_P(OfiClosing, APeerThatLeavesNeverHangsUs) {
    lose_peer(GetParam(), false);
}

// A queue that is opened to see whether it can sleep is closed, too; else the domain could not be.
TEST_P(OfiClosing, LeavesNoDescriptorOpen) {
    const auto open_files = [] {
        const std::filesystem::directory_iterator files("/proc/self/fd");
        return std::distance(begin(files), end(files));
    };
    open_group(GetParam());  // what libfabric opens once
    const auto before = open_files();
    for (int i = 0; i < 3; ++i) {
        open_group(GetParam());
    }
    EXPECT_LE(open_files(), before);
}

std::string provider_name(const testing::TestParamInfo<const char*>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), ';', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Providers, OfiClosing, testing::Values("net", "tcp", "tcp;ofi_rxm", "shm"),
                         provider_name);

}  // namespace
}  // namespace trefoil
