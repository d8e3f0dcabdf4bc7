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

#include "mpi/api.hpp"
#include "mpi/component/rotation.hpp"
#include "mpi/creation.hpp"

namespace trefoil::mpi {

/// An allgather by messages, which one thread asks for and others carry out.
class SlowExchange {
  public:
    SlowExchange(MPI_Comm comm, int rank, int ranks, Purpose purpose)
        : rotation_(comm, rank, ranks, purpose) {}

    /// As trefoil_allgather_fn. Waits as long as it takes.
    int allgather(const void* mine, void* all, std::size_t bytes);
    /// Carries on; in a thread that may call MPI, one at a time.
    void advance();
    /// What is asked for, and will be, fails.
    void give_up();

  private:
    std::mutex mutex_;
    std::condition_variable answered_;
    enum class State { idle, asked, under_way, given_up } state_ = State::idle;
    const void* mine_ = nullptr;
    std::size_t bytes_ = 0;
    Rotation rotation_;
};

class Opening {
  public:
    Opening(MPI_Comm comm, Creation creation);
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
