// SPDX-License-Identifier: BSD-3-Clause
// The thread that creates, and the messages between ranks.
#include "mpi/component/opening.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/component_slots.h"
#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

int SlowExchange::allgather(const void* mine, void* all, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    if (state_ == State::given_up) {
        return MPI_ERR_OTHER;
    }
    const auto ranks = static_cast<std::size_t>(ranks_);
    blocks_.resize(bytes * ranks);
    std::memcpy(blocks_.data(), mine, bytes);
    bytes_ = bytes;
    have_ = 1;
    state_ = State::asked;
    answered_.wait(lock, [this] { return state_ == State::idle || state_ == State::given_up; });
    if (state_ == State::given_up) {
        return MPI_ERR_OTHER;
    }
    if (code_ == MPI_SUCCESS) {
        auto* const target = static_cast<std::byte*>(all);
        const std::size_t before = bytes * static_cast<std::size_t>(rank_);
        const std::size_t after = bytes * ranks - before;
        std::memcpy(target + before, blocks_.data(), after);
        std::memcpy(target, blocks_.data() + after, before);
    }
    return code_;
}

bool SlowExchange::send_step() {
    receiving_ = std::min(have_, ranks_ - have_);
    const std::size_t bytes = bytes_ * static_cast<std::size_t>(receiving_);
    const int to = (rank_ - have_ + ranks_) % ranks_, from = (rank_ + have_) % ranks_;
    received_ = sent_ = nullptr;
    const int receiving =
        trefoil_component_receive(blocks_.data() + bytes_ * static_cast<std::size_t>(have_), bytes,
                                  from, tag_, comm_, &received_);
    const int sending = trefoil_component_send(blocks_.data(), bytes, to, tag_, comm_, &sent_);
    return receiving == MPI_SUCCESS && sending == MPI_SUCCESS;
}

void SlowExchange::end(int code) {
    code_ = code;
    state_ = State::idle;
    answered_.notify_one();
}

void SlowExchange::advance() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || state_ == State::idle || state_ == State::given_up) {
        return;
    }
    if (state_ == State::asked) {
        state_ = State::under_way;
        if (have_ < ranks_ && !send_step()) {
            return end(MPI_ERR_OTHER);
        }
    }
    while (have_ < ranks_) {
        int sent = MPI_SUCCESS, received = MPI_SUCCESS;
        if (trefoil_component_has_ended(&sent_, &sent) == 0 ||
            trefoil_component_has_ended(&received_, &received) == 0) {
            return;
        }
        have_ += receiving_;
        if (sent != MPI_SUCCESS || received != MPI_SUCCESS || (have_ < ranks_ && !send_step())) {
            return end(MPI_ERR_OTHER);
        }
    }
    end(MPI_SUCCESS);
}

void SlowExchange::give_up() {
    const std::lock_guard lock(mutex_);
    state_ = State::given_up;
    answered_.notify_one();
}

Opening::Opening(MPI_Comm comm, int tag, Creation creation)
    : exchange_(comm, creation.rank, creation.ranks, tag),
      creation_(std::move(creation)),
      thread_([this] {
          const ShadowCommunicator::NoProgress here;
          created_ = create(creation_, [this](const void* mine, void* all, std::size_t bytes) {
              return exchange_.allgather(mine, all, bytes);
          });
          done_.store(true, std::memory_order_release);
      }) {}

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
