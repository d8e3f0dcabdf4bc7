// SPDX-License-Identifier: BSD-3-Clause
// The thread that creates, and the messages between ranks.
#include "mpi/component/opening.hpp"

#include <utility>

#include "mpi/shadow_communicator.hpp"
#include "topo/no_signals.hpp"

namespace trefoil::mpi {

int SlowExchange::allgather(const void* mine, void* all, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    if (state_ == State::given_up) {
        return MPI_ERR_OTHER;
    }
    mine_ = mine;
    bytes_ = bytes;
    state_ = State::asked;
    answered_.wait(lock, [this] { return state_ == State::idle || state_ == State::given_up; });
    if (state_ == State::given_up || rotation_.failed()) {
        return MPI_ERR_OTHER;
    }
    rotation_.copy_to(all);
    return MPI_SUCCESS;
}

void SlowExchange::advance() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || state_ == State::idle || state_ == State::given_up) {
        return;
    }
    if (state_ == State::asked) {
        state_ = State::under_way;
        rotation_.begin(mine_, bytes_);
    }
    if (rotation_.advance()) {
        state_ = State::idle;
        answered_.notify_one();
    }
}

void SlowExchange::give_up() {
    const std::lock_guard lock(mutex_);
    state_ = State::given_up;
    answered_.notify_one();
}

Opening::Opening(MPI_Comm comm, Creation creation)
    : exchange_(comm, creation.rank, creation.ranks,
                creation.serial ? Purpose::serial_creation : Purpose::threaded_creation),
      creation_(std::move(creation)) {
    const NoSignals blocked;
    thread_ = std::thread([this] {
        const ShadowCommunicator::NoProgress here;
        created_ = create(creation_, [this](const void* mine, void* all, std::size_t bytes) {
            return exchange_.allgather(mine, all, bytes);
        });
        done_.store(true, std::memory_order_release);
    });
}

Opening::~Opening() {
    exchange_.give_up();
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool Opening::advance() {
    if (!done_.load(std::memory_order_acquire)) {
        exchange_.advance();
        return false;
    }
    if (thread_.joinable()) {
        thread_.join();
    }
    return true;
}

}  // namespace trefoil::mpi
