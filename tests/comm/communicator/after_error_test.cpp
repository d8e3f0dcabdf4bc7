// SPDX-License-Identifier: BSD-3-Clause
// What holds after an error: nobody writes the caller's buffers any more, nobody who is late takes
// what the caller does to them for valid, and they may be freed.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "backend/ports/forwarding_group.hpp"
#include "backend/registry/transports.hpp"
#include "process_job.hpp"
#include "tests/backend/registry/transports_to_test.hpp"
#include "thread_job.hpp"

namespace trefoil::test::after_error_test {
namespace {

/// What the processes of a test and the test itself share.
struct Scene {
    std::atomic<int> ready{0};  ///< ranks that are about to make the call
    std::atomic<int> failed{
        0};  ///< ranks that have returned an error and overwritten their buffers
    std::atomic<bool> over{false};

    static Scene& make() {
        void* const memory =
            mmap(nullptr, sizeof(Scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::bad_alloc();
        }
        return *new (memory) Scene;
    }
};

bool until(const std::function<bool()>& done) {
    const auto deadline = Clock::now() + std::chrono::seconds(30);
    while (!done()) {
        if (Clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

bool is_stopped(pid_t pid) {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
}

/// Exit codes of ranks, for messages.
enum Verdict : int {
    fine = 0,
    no_warm_up = 10,
    no_error = 20,       ///< its call succeeded although a rank was stopped
    touched = 21,        ///< somebody wrote its buffer after the error
    took_rubbish = 30,   ///< a late rank's call succeeded with a wrong result
    without_words = 31,  ///< a late rank's error names no rank
};

constexpr float sentinel = -7e7F;

/// The rest of a rank that is not stopped: an error must come, and then its buffer is its own.
int fail_and_watch(trefoil_status_t status, std::vector<float>& data, Scene& scene) {
    if (status == TREFOIL_SUCCESS) {
        return no_error;
    }
    std::fill(data.begin(), data.end(), sentinel);
    ++scene.failed;
    until([&] { return scene.over.load(); });
    const bool whole = std::all_of(data.begin(), data.end(), [](float x) { return x == sentinel; });
    return whole ? fine : touched;
}

int judge_late(trefoil_status_t status, trefoil_comm_t comm, const std::vector<float>& data,
               float expected) {
    if (status != TREFOIL_SUCCESS) {
        const bool says = std::string(trefoil_last_error(comm)).find("rank ") != std::string::npos;
        return says ? fine : without_words;
    }
    const bool right =
        std::all_of(data.begin(), data.end(), [=](float x) { return x == expected; });
    return right ? fine : took_rubbish;
}

/// Backend "memory" whose copies into a range stop the process before they begin.
std::atomic<std::uintptr_t> halting_begin{0}, halting_end{0};

class HaltingGroup final : public ForwardingGroup, public Pulling {
  public:
    explicit HaltingGroup(std::unique_ptr<PortGroup> inner) : ForwardingGroup(std::move(inner)) {
        powers_.pulling = this;
    }
    Reach reach(Peer peer) const override { return inner().pulling()->reach(peer); }
    bool copy_from(Peer peer, void* target, std::uint64_t address,
                   std::size_t bytes) const override {
        const auto place = reinterpret_cast<std::uintptr_t>(target);
        if (place >= halting_begin && place < halting_end) {
            halting_end = 0;
            raise(SIGSTOP);
        }
        return inner().pulling()->copy_from(peer, target, address, bytes);
    }
    ReadGuard* own_guard(int place) override { return inner().pulling()->own_guard(place); }
    const ReadGuard* guard_of(Peer peer, int place) const override {
        return inner().pulling()->guard_of(peer, place);
    }
};

std::vector<std::unique_ptr<PortGroup>> open_halting(const BackendConfig& config) {
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (auto& group : open_backend("memory", config)) {
        groups.push_back(std::make_unique<HaltingGroup>(std::move(group)));
    }
    return groups;
}

/// Not before a test asks for it: tests over every transport of this program would take it for one.
const char* halting() {
    static const bool registered = [] {
        Transport transport = find_transport("memory");
        transport.name = "halting";
        transport.open = open_halting;
        register_transport(transport);
        return true;
    }();
    return registered ? "halting" : nullptr;
}

enum class Stopped { while_it_waits, while_it_reads_sums };

/// Single copy over memory, rank 4 of nine stopped; once the others have failed it goes on.
void stop_rank_4(std::size_t count, Stopped when) {
    Scene& scene = Scene::make();
    constexpr int ranks = 9, late = 4, last = 8;
    const auto body = [&, when](int rank, trefoil_comm_t comm) -> int {
        std::vector<float> data(count, static_cast<float>(rank + 1));
        const auto sum = [&] {
            return trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                     TREFOIL_SUM, comm);
        };
        if (sum() != TREFOIL_SUCCESS || data[count / 2] != 45.0F) {
            return no_warm_up;
        }
        std::fill(data.begin(), data.end(), static_cast<float>(rank + 1));
        if (rank == late && when == Stopped::while_it_reads_sums) {
            halting_begin = reinterpret_cast<std::uintptr_t>(data.data());
            halting_end = reinterpret_cast<std::uintptr_t>(data.data() + count);
        }
        ++scene.ready;
        if (rank == last) {
            std::this_thread::sleep_for(std::chrono::seconds(1));
        }
        const trefoil_status_t status = sum();
        return rank == late ? judge_late(status, comm, data, 45.0F)
                            : fail_and_watch(status, data, scene);
    };
    const Job job = start(ranks, "3x3", halting(), body,
                          {{"TREFOIL_ALGORITHM", "single-copy"}, {"TREFOIL_TIMEOUT", "2"}});
    const StoreServer store;
    job.meet_at(store.port());
    const pid_t victim = job.pids[late];
    ASSERT_TRUE(until([&] { return scene.ready == ranks; }));
    if (when == Stopped::while_it_waits) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        ASSERT_EQ(kill(victim, SIGSTOP), 0);
    }
    EXPECT_TRUE(until([&] { return is_stopped(victim); }));
    EXPECT_TRUE(until([&] { return scene.failed == ranks - 1; })) << scene.failed << " failed";
    EXPECT_TRUE(is_stopped(victim));
    kill(victim, SIGCONT);
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    EXPECT_EQ(finish(victim, deadline), fine) << "rank " << late;
    scene.over = true;
    for (int rank = 0; rank < ranks; ++rank) {
        if (rank != late) {
            EXPECT_EQ(finish(job.pids[static_cast<std::size_t>(rank)], deadline), fine)
                << "rank " << rank;
        }
    }
}

TEST(AfterAnError, ALateReaderOfEightMebibytesWritesNothing) {
    stop_rank_4(2 << 20, Stopped::while_it_waits);
}

// Everything else of its call is complete.
TEST(AfterAnError, ALateReaderOfSumsDoesNotTakeRubbish) {
    stop_rank_4(1 << 19, Stopped::while_it_reads_sums);
}

// Ranks as threads read each other's vectors by addresses. Rank 2 is slow inside its operation.
std::atomic<bool> slow{false}, saw_a_change{false};

void slow_sum(const void* in, void* inout, std::size_t count, void* rank) {
    const auto* const from = static_cast<const float*>(in);
    auto* const to = static_cast<float*>(inout);
    const std::vector<float> before(from, from + count);
    if (slow && *static_cast<int*>(rank) == 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    }
    if (std::memcmp(before.data(), from, count * sizeof(float)) != 0) {
        saw_a_change = true;
    }
    for (std::size_t i = 0; i < count; ++i) {
        to[i] += from[i];
    }
}

TEST(AfterAnError, NobodyReadsTheVectorsOfARankThatHasReturned) {
    JobOptions options;
    options.torus = "3";
    options.backend = "memory";
    options.algorithm = "single-copy";
    options.timeout_seconds = 1;
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        constexpr std::size_t count = 16'384;
        trefoil_op_t op{};
        ASSERT_EQ(trefoil_op_create(slow_sum, &rank, sizeof(float), 1, &op), TREFOIL_SUCCESS);
        std::vector<float> data(count, 1.0F);
        ASSERT_EQ(
            trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_ELEMENT, op, comm),
            TREFOIL_SUCCESS)
            << trefoil_last_error(comm);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        slow = true;
        const trefoil_status_t status =
            trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_ELEMENT, op, comm);
        std::fill(data.begin(), data.end(), sentinel);
        EXPECT_NE(status, TREFOIL_SUCCESS) << "rank " << rank;
        trefoil_op_free(op);
    });
    EXPECT_FALSE(saw_a_change) << "a vector changed while it was read";
}

/// A root gives up a bcast whose messages wait for a peer that is stopped; then its buffer goes.
class LatePeer : public testing::TestWithParam<TransportToTest> {};

void give_up_bcast(const TransportToTest& transport, bool frees) {
    Scene& scene = Scene::make();
    constexpr std::size_t count = 8 << 20;  // more than sockets hold
    constexpr std::size_t bytes = count * sizeof(float);
    const auto body = [&, frees](int rank, trefoil_comm_t comm) -> int {
        void* const memory =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        auto* const data = static_cast<float*>(memory);
        const auto cast = [&] { return trefoil_bcast(data, count, TREFOIL_FLOAT, 0, comm); };
        std::fill_n(data, count, 1.0F);
        if (cast() != TREFOIL_SUCCESS || trefoil_barrier(comm) != TREFOIL_SUCCESS) {
            return no_warm_up;
        }
        std::fill_n(data, count, rank == 0 ? 2.0F : 0.0F);
        if (rank == 1) {
            raise(SIGSTOP);
            const trefoil_status_t status = cast();
            const std::vector<float> result(data, data + count);
            return judge_late(status, comm, result, 2.0F);
        }
        if (cast() == TREFOIL_SUCCESS) {
            return no_error;
        }
        if (frees) {
            munmap(memory, bytes);  // a late reader crashes, or the kernel refuses it
        } else {
            std::fill_n(data, count, sentinel);
        }
        ++scene.failed;
        // Destroys at once: what it still sends then must be what was given to it.
        return fine;
    };
    // All messages of the call are under way before the first is acknowledged.
    const Job job = start(2, "2", transport.backend.c_str(), body,
                          {{"TREFOIL_PROVIDER", transport.provider},
                           {"UCX_TLS", transport.backend == "ucx" ? transport.provider : "all"},
                           {"TREFOIL_TIMEOUT", "3"},
                           {"TREFOIL_LANDING_BYTES", "128M"},
                           {"TREFOIL_SEGMENT_BYTES", "32M"}});
    const StoreServer store;
    job.meet_at(store.port());
    EXPECT_TRUE(until([&] { return is_stopped(job.pids[1]); }));
    EXPECT_TRUE(until([&] { return scene.failed == 1; }));
    kill(job.pids[1], SIGCONT);
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    EXPECT_EQ(finish(job.pids[1], deadline), fine) << "the late peer";
    EXPECT_EQ(finish(job.pids[0], deadline), fine) << "the root";
}

TEST_P(LatePeer, TakesNoAlteredBytesForValid) {
    give_up_bcast(GetParam(), false);
}

TEST_P(LatePeer, MayGoOnAfterTheBufferWasFreed) {
    give_up_bcast(GetParam(), true);
}

/// In shared memory a put is done at once. With provider shm the peer itself fetches the bytes,
/// when it gets round to it.
std::vector<TransportToTest> transports_that_send() {
    auto all = transports_to_test();
    std::erase_if(all, [](const TransportToTest& each) {
        return each.name != "net" && each.name != "rxm" && each.name != "tcp";
    });
    return all;
}

INSTANTIATE_TEST_SUITE_P(Transports, LatePeer, testing::ValuesIn(transports_that_send()),
                         name_of_transport);

}  // namespace
}  // namespace trefoil::test::after_error_test
