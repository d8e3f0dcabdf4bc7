// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads or processes for the conformance suite, and the exchange between them.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <thread>

#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

namespace {
constexpr Rank board_ranks = 16;
constexpr std::size_t board_bytes = 8192;
constexpr std::chrono::seconds run_limit{60};
using Clock = std::chrono::steady_clock;
}  // namespace

/// Lies in memory that forked processes share. Blobs of two successive rounds: who writes round r
/// has seen everybody post round r-1, so everybody has read round r-2.
struct SharedBoard {
    struct Blob {
        std::size_t bytes = 0;
        char data[board_bytes] = {};
    };
    Clock::time_point deadline = Clock::now() + run_limit;
    std::atomic<bool> failed{false};
    std::atomic<std::uint64_t> posted[board_ranks] = {};
    Blob blobs[2][board_ranks];
};

std::string test_name(const testing::TestParamInfo<Subject>& info) {
    return info.param.name;
}

void Node::check() const {
    if (board_.failed.load()) {
        throw std::runtime_error("another rank of this test failed");
    }
    if (Clock::now() > board_.deadline) {
        throw std::runtime_error("rank " + std::to_string(rank_) +
                                 " waited in vain until the deadline of the test");
    }
}

std::vector<std::string> Node::allgather(std::string_view mine, const std::function<void()>& idle) {
    if (mine.size() > board_bytes) {
        throw std::runtime_error("the blob is too large for the board of the test");
    }
    ++round_;
    auto& blobs = board_.blobs[round_ % 2];
    blobs[rank_].bytes = mine.size();
    mine.copy(blobs[rank_].data, mine.size());
    board_.posted[rank_].store(round_);
    std::vector<std::string> all;
    for (Rank r = 0; r < ranks_; ++r) {
        while (board_.posted[r].load() < round_) {
            check();
            if (idle) {
                idle();
            }
            std::this_thread::yield();
        }
        all.emplace_back(blobs[r].data, blobs[r].bytes);
    }
    return all;
}

namespace {

void run_one(SharedBoard& board, Rank rank, Rank ranks, const std::function<void(Node&)>& body) {
    Node node(board, rank, ranks);
    try {
        body(node);
    } catch (const std::exception& error) {
        // Only the first failure is news; the others fail because of it.
        if (!board.failed.exchange(true)) {
            ADD_FAILURE() << "rank " << rank << ": " << error.what();
        }
    }
    if (testing::Test::HasFailure()) {
        board.failed.store(true);
    }
}

void run_threads(SharedBoard& board, Rank ranks, const std::function<void(Node&)>& body) {
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r) {
        threads.emplace_back([&board, r, ranks, &body] { run_one(board, r, ranks, body); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

void run_processes(SharedBoard& board, Rank ranks, const std::function<void(Node&)>& body) {
    std::fflush(nullptr);
    std::vector<pid_t> children;
    for (Rank r = 0; r < ranks; ++r) {
        const pid_t child = fork();
        if (child == 0) {
            run_one(board, r, ranks, body);
            std::fflush(nullptr);
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        ASSERT_GT(child, 0) << "fork failed";
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
            << "the process of a rank failed (status " << status << ")";
        if (status != 0) {
            board.failed.store(true);
        }
    }
}

}  // namespace

void run_ranks(const Subject& subject, Rank ranks, const std::function<void(Node&)>& body) {
    ASSERT_LE(ranks, board_ranks);
    void* memory = mmap(nullptr, sizeof(SharedBoard), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* board = new (memory) SharedBoard;
    if (subject.processes) {
        run_processes(*board, ranks, body);
    } else {
        run_threads(*board, ranks, body);
    }
    munmap(memory, sizeof(SharedBoard));
}

std::byte pattern(std::uint64_t seed, std::size_t i) {
    return static_cast<std::byte>((i + 1) * 167 + (i >> 8) * 31 + seed * 101 + 7);
}

void fill(std::byte* data, std::size_t bytes, std::uint64_t seed) {
    for (std::size_t i = 0; i < bytes; ++i) {
        data[i] = pattern(seed, i);
    }
}

std::size_t first_wrong(const std::byte* data, std::size_t bytes, std::uint64_t seed) {
    std::size_t i = 0;
    while (i < bytes && data[i] == pattern(seed, i)) {
        ++i;
    }
    return i;
}

}  // namespace trefoil::conformance
