// SPDX-License-Identifier: BSD-3-Clause
// All shadow communicators, for the end; their communicators hold them.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "mpi/allgather.hpp"
#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

std::atomic<bool> any_shadow_parked{false};

namespace {

// Neither MPI nor Trefoil is called while it is held: a thread inside MPI may come to end_shadow()
// with a lock of MPI's.
std::mutex list_mutex;
std::set<ShadowCommunicator*> list;
std::vector<ShadowCommunicator*> parked;  ///< of communicators that have gone

/// Puts aside what nobody else can find any more.
void park(std::span<ShadowCommunicator* const> shadows) {
    const std::lock_guard lock(list_mutex);
    parked.insert(parked.end(), shadows.begin(), shadows.end());
    any_shadow_parked.store(!parked.empty(), std::memory_order_relaxed);
}

}  // namespace

ShadowCommunicator* make_shadow(MPI_Comm comm, CallRecord* record) {
    auto* const made = new ShadowCommunicator(comm, record);
    const std::lock_guard lock(list_mutex);
    list.insert(made);
    return made;
}

void end_shadow(ShadowCommunicator* shadow) {
    {
        const std::lock_guard lock(list_mutex);
        if (list.erase(shadow) == 0) {
            return;  // gone already, at the end of MPI
        }
    }
    shadow->keep_own_record();
    // A message may have kept a communicator that was freed before, until it ends while this thread
    // waits in Trefoil, with what the two communicators share.
    if (!ShadowCommunicator::waits_in_trefoil() &&
        shadow->has_ended(ShadowCommunicator::End::in_no_haste)) {
        delete shadow;
    } else {
        park({&shadow, 1});
    }
}

namespace {

/// Of those that are parked; `at_end`: of MPI.
void reap(bool at_end) {
    using enum ShadowCommunicator::End;
    std::vector<ShadowCommunicator*> mine;  // whoever takes them asks them: one thread at a time
    {
        const std::lock_guard lock(list_mutex);
        mine.swap(parked);
        any_shadow_parked.store(false, std::memory_order_relaxed);
    }
    // The oldest make room: each holds descriptors and memory.
    constexpr std::size_t most_in_no_haste = 1;
    std::size_t left = mine.size();
    std::erase_if(mine, [&](ShadowCommunicator* shadow) {
        const auto end = at_end ? of_mpi : left > most_in_no_haste ? soon : in_no_haste;
        const bool ended = shadow->has_ended(end);
        --left;
        if (ended) {
            delete shadow;
        }
        return ended;
    });
    if (!mine.empty()) {
        park(mine);
    }
}

}  // namespace

void reap_shadows() {
    // A duplicate shares what this thread may be waiting with.
    if (!ShadowCommunicator::waits_in_trefoil()) {
        reap(false);
    }
}

void end_shadows() {
    // Once all ranks of this MPI_COMM_WORLD are here, nobody needs another's shadows any more.
    std::uint64_t nothing[1] = {0};
    greatest(MPI_COMM_WORLD, nothing);
    for (ShadowCommunicator* const shadow : list) {  // MPI_Finalize: no other thread is in MPI
        delete shadow;
    }
    list.clear();  // their communicators may end later
    // A rank that has not freed a communicator takes no part in the end of those that are parked.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (any_shadow_parked && std::chrono::steady_clock::now() < deadline) {
        reap(true);
        sched_yield();
    }
    for (ShadowCommunicator* const shadow : parked) {
        delete shadow;
    }
    parked.clear();
}

}  // namespace trefoil::mpi
