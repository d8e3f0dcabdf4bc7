// SPDX-License-Identifier: BSD-3-Clause
// Backend "memory": the conformance suite for threads and processes, and what is special to it.
#include <linux/mempolicy.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "backend/memory/memory_region.hpp"
#include "backend/ports/notification_queue.hpp"
#include "backend/ports/powers.hpp"
#include "backend/system/kernel_access.hpp"
#include "tests/backend/ports/conformance.hpp"
#include "topo/numa_memory.hpp"
#include "topo/process_state.hpp"

namespace trefoil::conformance {

INSTANTIATE_TEST_SUITE_P(Memory, Conformance, threads_and_processes("memory"), test_name);

namespace {

constexpr int queue_capacity = memory::NotificationQueue::capacity;

std::unique_ptr<PortGroup> open_group() {
    BackendConfig config;
    config.groups = {{Port{0}, Port{1}}};
    return std::move(open_backend("memory", config)[0]);
}

Status status_of(const std::function<void()>& call, std::string* message = nullptr) {
    try {
        call();
    } catch (const Error& error) {
        if (message != nullptr) {
            *message = error.what();
        }
        return error.status();
    }
    return Status::success;
}

PutResult put_to(PortGroup& from, Peer to, const void* source, const RemoteMemory& target,
                 std::uint64_t offset, std::size_t bytes, std::uint64_t notification) {
    return from.put({.port = Port{0},
                     .peer = to,
                     .source = source,
                     .target = target,
                     .offset = offset,
                     .bytes = bytes,
                     .notification = notification});
}

/// Puts without a reader; how many were accepted before anything but `done`.
int puts_until_refused(PortGroup& from, Peer to, const RemoteMemory& memory, PutResult& last) {
    const std::uint64_t value = 5;
    int accepted = 0;
    do {
        last = put_to(from, to, &value, memory, 0, sizeof value, 1);
        accepted += last == PutResult::done ? 1 : 0;
    } while (last == PutResult::done && accepted < 100000);
    return accepted;
}

std::size_t open_files() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        count += entry.path().empty() ? 0 : 1;
    }
    return count;
}

}  // namespace

TEST(Memory, RefusesWhenFullAndGoesOnWhenRead) {
    const auto writer = open_group();
    const auto reader = open_group();
    const RemoteMemory memory = writer->import_memory(reader->describe(reader->allocate(64)));
    const Peer peer = writer->connect(Port{0}, reader->address(Port{1}));
    PutResult last = PutResult::done;
    EXPECT_EQ(puts_until_refused(*writer, peer, memory, last), queue_capacity);
    EXPECT_EQ(last, PutResult::again);
    std::vector<Event> events(100);
    EXPECT_EQ(reader->poll(events), 100U);
    EXPECT_EQ(puts_until_refused(*writer, peer, memory, last), 100);
    EXPECT_EQ(last, PutResult::again);
}

TEST(Memory, AGlanceSeesWhatPollWouldFind) {
    const auto writer = open_group();
    const auto reader = open_group();
    const RemoteMemory memory = writer->import_memory(reader->describe(reader->allocate(64)));
    const Peer peer = writer->connect(Port{0}, reader->address(Port{1}));
    EXPECT_FALSE(reader->storing()->may_have_arrivals());
    const std::uint64_t value = 5;
    ASSERT_EQ(put_to(*writer, peer, &value, memory, 0, sizeof value, 1), PutResult::done);
    EXPECT_TRUE(reader->storing()->may_have_arrivals());
    Event event;
    EXPECT_EQ(reader->poll({&event, 1}), 1U);
    EXPECT_FALSE(reader->storing()->may_have_arrivals());
}

TEST(Memory, FailsWhenThePeerHasClosed) {
    const auto writer = open_group();
    auto reader = open_group();
    const RemoteMemory memory = writer->import_memory(reader->describe(reader->allocate(64)));
    const Peer peer = writer->connect(Port{0}, reader->address(Port{1}));
    reader.reset();
    PutResult last = PutResult::done;
    EXPECT_EQ(puts_until_refused(*writer, peer, memory, last), queue_capacity);
    EXPECT_EQ(last, PutResult::failed);
    EXPECT_NE(writer->error_text().find("closed"), std::string::npos) << writer->error_text();
}

TEST(Memory, FailsWhenThePeersProcessHasEnded) {
    int from_child[2];
    int to_child[2];
    ASSERT_EQ(pipe(from_child), 0);
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto group = open_group();
        const std::string blobs = group->describe(group->allocate(64)) + group->address(Port{0});
        char go = 0;
        const bool sent = write(from_child[1], blobs.data(), blobs.size()) > 0;
        _exit(sent && read(to_child[0], &go, 1) == 1 ? 0 : 1);
    }
    std::string blobs(4096, '\0');
    const ssize_t bytes = read(from_child[0], blobs.data(), blobs.size());
    ASSERT_GT(bytes, 0);
    const std::string memory_blob = blobs.substr(0, bytes / 2);
    const std::string address_blob = blobs.substr(bytes / 2, bytes / 2);
    auto writer = open_group();
    const RemoteMemory memory = writer->import_memory(memory_blob);
    const Peer peer = writer->connect(Port{1}, address_blob);
    ASSERT_EQ(write(to_child[1], "!", 1), 1);
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    PutResult last = PutResult::done;
    EXPECT_EQ(puts_until_refused(*writer, peer, memory, last), queue_capacity);
    for (int i = 0; i < 5000 && last == PutResult::again; ++i) {
        puts_until_refused(*writer, peer, memory, last);
    }
    EXPECT_EQ(last, PutResult::failed);
    EXPECT_NE(writer->error_text().find(std::to_string(child)), std::string::npos)
        << writer->error_text();
    // Here it stays mapped as long as the writer lives; after that nobody can reach it.
    writer.reset();
    EXPECT_EQ(status_of([&] { open_group()->connect(Port{0}, address_blob); }), Status::peer_lost);
    for (const int file : {from_child[0], from_child[1], to_child[0], to_child[1]}) {
        close(file);
    }
}

TEST(Memory, ReachesAProcessWhoseMainThreadHasEnded) {
    int blobs[2];
    int end[2];
    ASSERT_EQ(pipe(blobs), 0);
    ASSERT_EQ(pipe(end), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        close(end[1]);
        std::thread([&] {
            char byte = 0;
            const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (living_thread(getpid()) == getpid() &&
                   std::chrono::steady_clock::now() < until) {
                std::this_thread::yield();  // until the main thread has ended
            }
            const auto group = open_group();
            std::vector<std::byte> own(64);
            group->registering()->register_memory(own.data(), own.size());
            const std::string all = group->describe(group->allocate(64)) + group->address(Port{0});
            _exit(write(blobs[1], all.data(), all.size()) > 0 && read(end[0], &byte, 1) == 0 ? 0
                                                                                             : 1);
        }).detach();
        syscall(SYS_exit, 0);  // as pthread_exit() does, but past this framework's handlers
    }
    close(end[0]);
    std::string told(4096, '\0');
    const auto half = static_cast<std::size_t>(read(blobs[0], told.data(), told.size())) / 2;
    const auto group = open_group();
    std::string message;
    EXPECT_EQ(status_of([&] { group->import_memory(told.substr(0, half)); }, &message),
              Status::success)
        << message;
    Peer peer;
    EXPECT_EQ(status_of([&] { peer = group->connect(Port{1}, told.substr(half, half)); }, &message),
              Status::success)
        << message;
    if (!testing::Test::HasFailure() && why_no_kernel_access().empty()) {
        EXPECT_EQ(reach_of(*group, peer), Reach::copies);
    }
    close(end[1]);
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    close(blobs[0]);
    close(blobs[1]);
}

TEST(Memory, NamesThePeerThatIsOutOfReach) {
    const auto group = open_group();
    const std::string mine = open_group()->address(Port{0});
    std::string message;
    EXPECT_EQ(status_of([&] { group->connect(Port{0}, mine); }, &message), Status::peer_lost);
    EXPECT_NE(message.find("freed"), std::string::npos) << message;

    const auto other = open_group();
    std::string elsewhere = other->address(Port{0});
    elsewhere[32] = elsewhere[32] == 'a' ? 'b' : 'a';  // the boot text of another host
    elsewhere[16] = static_cast<char>(elsewhere[16] + 1);
    elsewhere[17] = static_cast<char>(elsewhere[17] + 1);
    EXPECT_EQ(status_of([&] { group->connect(Port{0}, elsewhere); }, &message),
              Status::unsupported);
    EXPECT_NE(message.find("another host"), std::string::npos) << message;
}

TEST(Memory, RefusesMixedUpBlobsAndForeignPorts) {
    const auto group = open_group();
    const auto other = open_group();
    const std::string address = other->address(Port{0});
    const std::string memory = other->describe(other->allocate(10));
    EXPECT_EQ(status_of([&] { group->connect(Port{0}, memory); }), Status::invalid_argument);
    EXPECT_EQ(status_of([&] { group->import_memory(address); }), Status::invalid_argument);
    EXPECT_EQ(status_of([&] { group->connect(Port{7}, address); }), Status::invalid_argument);
    EXPECT_EQ(status_of([&] { group->address(Port{2}); }), Status::invalid_argument);
    EXPECT_EQ(status_of([&] { group->describe(LocalMemory{}); }), Status::invalid_argument);
}

TEST(Memory, StopsAPutThatWouldLeaveTheTarget) {
    const auto group = open_group();
    const auto other = open_group();
    const LocalMemory inbox = other->allocate(100);
    const RemoteMemory memory = group->import_memory(other->describe(inbox));
    const Peer peer = group->connect(Port{0}, other->address(Port{0}));
    std::byte source[101] = {};
    EXPECT_EQ(put_to(*group, peer, source, memory, 0, 101, 0), PutResult::failed);
    EXPECT_EQ(put_to(*group, peer, source, memory, 1, 100, 0), PutResult::failed);
    EXPECT_EQ(put_to(*group, peer, source, memory, ~0ULL, 2, 0), PutResult::failed);
    EXPECT_NE(group->error_text().find("leave the target"), std::string::npos);
    EXPECT_EQ(put_to(*group, peer, source, memory, 0, 100, 9), PutResult::done);
    std::vector<Event> events(2);
    ASSERT_EQ(other->poll(events), 1U);
    EXPECT_EQ(events[0].notification, 9U);
}

/// A writer that has lost its mind: more bytes than an entry has, or memory that nobody has.
TEST(Memory, StopsASmallPutThatCannotBe) {
    for (const bool too_long : {false, true}) {
        const auto reader = open_group();
        const LocalMemory inbox = reader->allocate(4096);
        const RemoteMemory memory = open_group()->import_memory(reader->describe(inbox));
        const auto region = memory::Region::open(memory::Use::queue, reader->address(Port{0}));
        auto& queue = *reinterpret_cast<memory::NotificationQueue*>(region->data());
        memory::QueueWriter writer(queue);
        const std::uint64_t value = 7;
        ASSERT_TRUE(writer.push(1, memory.key + (too_long ? 0 : 2), 0, &value, sizeof value));
        if (too_long) {
            queue.entries[0].put.bytes = 2048;
        }
        std::vector<Event> events(2);
        ASSERT_EQ(reader->poll(events), 1U);
        EXPECT_EQ(events[0].kind, Event::Kind::failed) << too_long;
        EXPECT_EQ(*inbox.data, std::byte{0}) << too_long;
    }
}

TEST(Memory, LeavesNoFileOpen) {
    const std::size_t before = open_files();
    {
        const auto group = open_group();
        const auto other = open_group();
        group->import_memory(other->describe(other->allocate(100)));
        group->connect(Port{0}, other->address(Port{1}));
        EXPECT_GT(open_files(), before);
    }
    EXPECT_EQ(open_files(), before);
}

/// What the regions of this process take of the host's memory, in bytes.
std::size_t shared_bytes() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        struct stat status {};
        if (std::filesystem::read_symlink(entry, gone).string().starts_with("/memfd:trefoil") &&
            stat(entry.path().c_str(), &status) == 0) {
            return static_cast<std::size_t>(status.st_blocks) * 512;
        }
    }
    return 0;
}

TEST(Memory, OneFileHoldsAllRegions) {
    const auto first = open_group();
    const std::size_t files = open_files(), bytes = shared_bytes();
    {
        std::vector<std::unique_ptr<PortGroup>> groups;
        for (int i = 0; i < 50; ++i) {
            groups.push_back(open_group());
            std::memset(groups.back()->allocate(100'000).data, 1, 100'000);
        }
        EXPECT_EQ(open_files(), files);
        EXPECT_GT(shared_bytes(), bytes + 50U * 100'000);
    }
    EXPECT_EQ(shared_bytes(), bytes);
}

/// The address of a group of a child, which ends it, or itself, when told to.
TEST(Memory, TakesThePagesOfARegionFromItsMakersNumaNode) {
    const int node = own_numa_node();
    const auto region = memory::Region::make(memory::Use::payload, 1 << 20);
    int policy = -1;
    unsigned long nodes[16] = {};
    if (node < 0 ||
        syscall(SYS_get_mempolicy, &policy, nodes, 1024UL, region->data(), MPOL_F_ADDR) != 0) {
        GTEST_SKIP() << "on several NUMA nodes, or the kernel does not tell";
    }
    EXPECT_EQ(policy, MPOL_PREFERRED);
    EXPECT_EQ(nodes[node / 64], 1UL << (node % 64));
}

TEST(Memory, AClosedQueueStaysReadableUntilItsLastWriterGoes) {
    int from_child[2], to_child[2];
    ASSERT_EQ(pipe(from_child), 0);
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto other = open_group();  // keeps the file
        auto group = open_group();
        const std::string blobs = group->describe(group->allocate(64)) + group->address(Port{0});
        const std::size_t held = shared_bytes();
        char go = 0;
        bool good = write(from_child[1], blobs.data(), blobs.size()) > 0;
        good = good && read(to_child[0], &go, 1) == 1;
        group.reset();
        good = good && shared_bytes() == held && write(from_child[1], &go, 1) == 1;
        good = good && read(to_child[0], &go, 1) == 1;
        _exit(good && shared_bytes() < held ? 0 : 1);
    }
    std::string blobs(4096, '\0');
    const ssize_t bytes = read(from_child[0], blobs.data(), blobs.size());
    ASSERT_GT(bytes, 0);
    auto writer = open_group();
    const RemoteMemory memory = writer->import_memory(blobs.substr(0, bytes / 2));
    const std::string address = blobs.substr(bytes / 2, bytes / 2);
    const Peer peer = writer->connect(Port{1}, address);
    char go = '!';
    ASSERT_EQ(write(to_child[1], &go, 1), 1);
    ASSERT_EQ(read(from_child[0], &go, 1), 1);
    PutResult last = PutResult::done;
    puts_until_refused(*writer, peer, memory, last);
    EXPECT_EQ(last, PutResult::failed);
    EXPECT_NE(writer->error_text().find("closed"), std::string::npos) << writer->error_text();
    writer.reset();
    EXPECT_EQ(status_of([&] { open_group()->connect(Port{0}, address); }), Status::peer_lost);
    ASSERT_EQ(write(to_child[1], &go, 1), 1);
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    for (const int file : {from_child[0], from_child[1], to_child[0], to_child[1]}) {
        close(file);
    }
}

/// A file that may not grow is followed by another one, and what does not fit any is refused
/// instead of ended by a signal.
TEST(Memory, KeepsToTheLimitOfFileSizes) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{1 << 20, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    {
        const auto group = open_group();
        for (int i = 0; i < 20; ++i) {
            std::memset(group->allocate(400'000).data, 1, 400'000);
        }
        std::string message;
        EXPECT_EQ(status_of([&] { group->allocate(2 << 20); }, &message), Status::system_error);
        EXPECT_NE(message.find("ulimit -f"), std::string::npos) << message;
    }
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST(Memory, HasNoNicsToChoose) {
    BackendConfig config;
    config.groups = {{Port{0}}};
    config.nics = {"", "eth7"};
    std::string message;
    EXPECT_EQ(status_of([&] { open_backend("memory", config); }, &message), Status::not_found);
    EXPECT_NE(message.find("eth7"), std::string::npos) << message;
    EXPECT_EQ(find_transport("memory").providers().size(), 1U);
}

}  // namespace trefoil::conformance
