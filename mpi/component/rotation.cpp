// SPDX-License-Identifier: BSD-3-Clause
// The steps of an allgather by messages, and one that blocks.
#include "mpi/component/rotation.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "mpi/component_slots.h"

namespace trefoil::mpi {

bool Rotation::begin(const void* mine, std::size_t bytes) {
    blocks_.resize(bytes * static_cast<std::size_t>(ranks_));
    std::memcpy(blocks_.data(), mine, bytes);
    bytes_ = bytes;
    have_ = 1;
    failed_ = have_ < ranks_ && !send_step();
    return !failed_;
}

bool Rotation::send_step() {
    receiving_ = std::min(have_, ranks_ - have_);
    const std::size_t bytes = bytes_ * static_cast<std::size_t>(receiving_);
    const int to = (rank_ - have_ + ranks_) % ranks_, from = (rank_ + have_) % ranks_;
    const auto purpose = static_cast<int>(purpose_);
    received_ = sent_ = nullptr;
    const int receiving =
        trefoil_component_receive(blocks_.data() + bytes_ * static_cast<std::size_t>(have_), bytes,
                                  from, purpose, comm_, &received_);
    const int sending = trefoil_component_send(blocks_.data(), bytes, to, purpose, comm_, &sent_);
    return receiving == MPI_SUCCESS && sending == MPI_SUCCESS;
}

bool Rotation::advance() {
    while (!failed_ && have_ < ranks_) {
        int sent = MPI_SUCCESS, received = MPI_SUCCESS;
        if (trefoil_component_has_ended(&sent_, &sent) == 0 ||
            trefoil_component_has_ended(&received_, &received) == 0) {
            return false;
        }
        have_ += receiving_;
        failed_ =
            sent != MPI_SUCCESS || received != MPI_SUCCESS || (have_ < ranks_ && !send_step());
    }
    return true;
}

void Rotation::copy_to(void* all) const {
    auto* const target = static_cast<std::byte*>(all);
    const std::size_t before = bytes_ * static_cast<std::size_t>(rank_);
    const std::size_t after = blocks_.size() - before;
    std::memcpy(target + before, blocks_.data(), after);
    std::memcpy(target, blocks_.data() + after, before);
}

int allgather(MPI_Comm comm, Purpose purpose, const void* mine, void* all, std::size_t bytes,
              const std::function<void()>& when_late) {
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    // After a time-out MPI still knows its memory, and it is given up.
    auto rotation = std::make_unique<Rotation>(comm, rank, ranks, purpose);
    const auto over = [&] {
        trefoil_component_let_mpi_go_on();
        return rotation->advance();
    };
    if (!rotation->begin(mine, bytes) || !wait_until(over, when_late) || rotation->failed()) {
        static_cast<void>(rotation.release());
        return MPI_ERR_OTHER;
    }
    rotation->copy_to(all);
    return MPI_SUCCESS;
}

std::int64_t calls_of_mpi(MPI_Comm comm) {
    return -std::int64_t{trefoil_component_next_tag(comm)};  // it goes down
}

void set_calls_of_mpi(MPI_Comm comm, std::int64_t calls) {
    trefoil_component_set_next_tag(comm, static_cast<int>(-calls));
}

}  // namespace trefoil::mpi
