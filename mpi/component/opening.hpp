// SPDX-License-Identifier: BSD-3-Clause
// Setting up Trefoil for a communicator whose first call does not block. A thread creates, and
// waits where ranks exchange something; the exchange itself goes on whenever MPI does, in the
// program's threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "mpi/api.hpp"
#include "mpi/creation.hpp"

namespace trefoil::mpi {

/// An allgather by messages, which one thread asks for and others carry out. In ceil(log2 ranks)
/// steps (Bruck et al., 1997): in step k a rank sends the blocks it has, of itself and those after
/// it, to the rank 2^k before it.
class SlowExchange {
  public:
    SlowExchange(MPI_Comm comm, int rank, int ranks, int tag)
        : comm_(comm), rank_(rank), ranks_(ranks), tag_(tag) {}

    /// As trefoil_allgather_fn. Waits as long as it takes.
    int allgather(const void* mine, void* all, std::size_t bytes);
    /// Carries on; in a thread that may call MPI, one at a time.
    void advance();
    /// What is asked for, and will be, fails.
    void give_up();

  private:
    bool send_step();
    void end(int code);

    const MPI_Comm comm_;
    const int rank_, ranks_, tag_;
    std::mutex mutex_;
    std::condition_variable answered_;
    enum class State { idle, asked, under_way, given_up } state_ = State::idle;
    int code_ = 0;
    std::size_t bytes_ = 0;
    std::vector<std::byte> blocks_;  ///< of this rank, then of those after it
    int have_ = 0;                   ///< blocks
    MPI_Request sent_{}, received_{};
    int receiving_ = 0;  ///< blocks
};

class Opening {
  public:
    Opening(MPI_Comm comm, int tag, Creation creation);
    ~Opening();
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;

    /// True: created() tells what came out. In a thread that may call MPI, one at a time.
    bool advance();
    const Created& created() const { return created_; }
    const Creation& creation() const { return creation_; }

  private:
    SlowExchange exchange_;
    Creation creation_;
    Created created_;
    std::atomic<bool> done_{false};
    std::thread thread_;
};

}  // namespace trefoil::mpi
