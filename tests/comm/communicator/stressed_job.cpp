// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are processes, or threads, each with a place where it tells how far it is.
#include "stressed_job.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>

#include "derived_job.hpp"
#include "mixed_calls.hpp"
#include "process_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test {

namespace {

/// Of one rank; in memory that all its processes share.
struct Told {
    std::atomic<std::uint64_t> calls{0};
    std::array<char, 1000> wrong{};
};

class Board {
  public:
    explicit Board(std::size_t ranks)
        : bytes_(ranks * sizeof(Told)),
          memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
          ranks_(ranks) {
        if (memory_ == MAP_FAILED) {
            throw std::bad_alloc();
        }
        for (std::size_t r = 0; r < ranks; ++r) {
            new (&of(r)) Told;
        }
    }
    ~Board() { munmap(memory_, bytes_); }
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

    Told& of(std::size_t rank) const { return static_cast<Told*>(memory_)[rank]; }
    std::uint64_t calls() const {
        std::uint64_t all = 0;
        for (std::size_t r = 0; r < ranks_; ++r) {
            all += of(r).calls;
        }
        return all;
    }

  private:
    std::size_t bytes_;
    void* memory_;
    std::size_t ranks_;
};

/// True: all was right.
bool take_part(const StressedJob& job, trefoil_comm_t comm, Told& told) {
    std::string wrong = comm == nullptr ? trefoil_last_error(nullptr) : "";
    if (wrong.empty()) {
        const std::vector<Made> made = parts_of(comm);
        std::vector<trefoil_comm_t> comms{comm};
        comms.insert(comms.end(), made.begin(), made.end());
        Mix mix{.calls = job.calls, .seed = job.seed};
        mix.ended = [&] { told.calls.fetch_add(1, std::memory_order_relaxed); };
        wrong = run_mixed_calls(comms, mix).wrong;
        if (wrong.empty() && trefoil_barrier(comm) != TREFOIL_SUCCESS) {
            wrong = std::string("barrier: ") + trefoil_last_error(comm);
        }
    }
    std::strncpy(told.wrong.data(), wrong.c_str(), told.wrong.size() - 1);
    return wrong.empty();
}

/// Prints how far the ranks are, from another thread, while it is there.
class Teller {
  public:
    Teller(const StressedJob& job, const Board& board)
        : thread_([this, &job, &board] { tell(job, board); }) {}
    ~Teller() {
        over_ = true;
        thread_.join();
    }
    Teller(const Teller&) = delete;
    Teller& operator=(const Teller&) = delete;

  private:
    void tell(const StressedJob& job, const Board& board) const {
        auto next = Clock::now() + std::chrono::seconds(10);
        while (!over_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (Clock::now() > next) {
                std::printf("    %s %s: %zu calls\n", job.transport.name.c_str(), job.shape.c_str(),
                            static_cast<std::size_t>(board.calls()));
                std::fflush(stdout);
                next += std::chrono::seconds(10);
            }
        }
    }

    std::atomic<bool> over_{false};
    std::thread thread_;
};

void run_threads(const StressedJob& job, const Board& board) {
    JobOptions options;
    options.torus = job.shape;
    options.backend = job.transport.backend;
    options.provider = job.transport.provider;
    options.port_threads = job.port_threads;
    options.timeout_seconds = 60;
    const Teller teller(job, board);
    run_ranks(Torus::parse(job.shape).ranks(), options, [&](int rank, trefoil_comm_t comm) {
        (void)take_part(job, comm, board.of(static_cast<std::size_t>(rank)));
    });
}

/// Those that outlive the time are killed: they tell nothing.
void run_processes(const StressedJob& job, const Board& board) {
    std::map<std::string, std::string> environment{{"TREFOIL_TIMEOUT", "60"}};
    if (!job.transport.provider.empty()) {
        environment["TREFOIL_PROVIDER"] = job.transport.provider;
        environment["UCX_TLS"] = "all";
    }
    if (job.port_threads >= 0) {
        environment["TREFOIL_PORT_THREADS"] = std::to_string(job.port_threads);
    }
    const Job ranks = start(
        Torus::parse(job.shape).ranks(), job.shape.c_str(), job.transport.backend.c_str(),
        [&](int rank, trefoil_comm_t comm) {
            return take_part(job, comm, board.of(static_cast<std::size_t>(rank))) ? 0 : 1;
        },
        environment);
    const StoreServer store;
    ranks.meet_at(store.port());
    const Teller teller(job, board);
    const auto left =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(job.seconds));
    const auto deadline = Clock::now() + left;
    for (std::size_t r = 0; r < ranks.pids.size(); ++r) {
        const int code = finish(ranks.pids[r], deadline);
        std::array<char, 1000>& wrong = board.of(r).wrong;
        if (code != 0 && wrong[0] == '\0') {
            std::snprintf(wrong.data(), wrong.size(), "it ended with code %d after %zu calls", code,
                          static_cast<std::size_t>(board.of(r).calls));
        }
    }
}

}  // namespace

StressedJobResult run_stressed(const StressedJob& job) {
    const auto ranks = static_cast<std::size_t>(Torus::parse(job.shape).ranks());
    const Board board(ranks);
    const auto begin = Clock::now();
    if (job.threads) {
        run_threads(job, board);
    } else {
        run_processes(job, board);
    }
    StressedJobResult result;
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    result.calls = board.calls();
    for (std::size_t r = 0; r < ranks; ++r) {
        const std::string wrong = board.of(r).wrong.data();
        if (!wrong.empty()) {
            ++result.wrong;
            result.what += result.what.empty() ? "rank " + std::to_string(r) + ": " + wrong : "";
        }
    }
    return result;
}

}  // namespace trefoil::test
