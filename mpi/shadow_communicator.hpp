// SPDX-License-Identifier: BSD-3-Clause
// The Trefoil side of an MPI communicator: made at the first call that Trefoil runs, kept as an
// attribute, gone with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/api.hpp"
#include "mpi/collective_kind.hpp"
#include "mpi/tuning.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::mpi {

/// Used by one thread at a time, as MPI wants it of the collectives of a communicator.
class ShadowCommunicator {
  public:
    /// Local. Finds out whether Trefoil can serve this communicator.
    explicit ShadowCommunicator(MPI_Comm comm);
    /// Local: peers must not need this rank any more.
    ~ShadowCommunicator();
    ShadowCommunicator(const ShadowCommunicator&) = delete;
    ShadowCommunicator& operator=(const ShadowCommunicator&) = delete;

    MPI_Comm comm() const { return comm_; }
    int rank() const { return rank_; }
    std::size_t ranks() const { return ranks_; }
    /// Why no call of this communicator can be Trefoil's, alike on all its ranks; or none.
    Reason reason() const { return reason_; }
    /// A call that failed has ended neither communicator.
    bool goes_on() const {
        return failure_ == TREFOIL_SUCCESS && lives(threaded_) && lives(serial_);
    }
    /// After a call that failed. True: something was found lacking when this communicator was made,
    /// such as descriptors or memory; all ranks leave this call, and all later ones, to MPI.
    bool gives_up() const { return reason_ == Reason::not_set_up; }
    bool in_use() const { return threaded_ != nullptr || serial_ != nullptr; }

    /// The other ranks need this one no more, as a barrier has shown.
    void settled() { settled_ = true; }
    /// Its MPI communicator is going, and nobody may wait: begins a barrier of Trefoil's own,
    /// unless there was one. True: peers need this rank no more, and it may be destroyed.
    bool begin_end();
    bool has_ended();

    /// Collective at first. `serial`: for what must stay in the calling thread. Null: it cannot be,
    /// on any rank, and failure() and failure_text() say why.
    trefoil_comm_t prepare(bool serial) {
        trefoil_comm_t& made = serial ? serial_ : threaded_;
        return made != nullptr ? made : create(serial, made);
    }
    trefoil_status_t failure() const { return failure_; }
    const std::string& failure_text() const { return failure_text_; }

    Trials& trials() {
        if (!trials_) {
            trials_ = std::make_unique<Trials>();
        }
        return *trials_;
    }

    /// Room for the blocks of the present call.
    std::vector<std::size_t> counts, displacements;

  private:
    static bool lives(trefoil_comm_t comm) {
        return comm == nullptr || *trefoil_last_error(comm) == '\0';
    }
    static int gather_callback(const void* mine, void* all, std::size_t bytes, void* self);
    static void progress_callback(void* self);
    trefoil_comm_t create(bool serial, trefoil_comm_t& made);
    /// What happened to one rank, or nothing.
    struct Outcome {
        trefoil_status_t status = TREFOIL_SUCCESS;
        std::string text;
    };
    bool all_succeed(const Outcome& mine);
    bool leave_to_mpi();
    static Outcome look_at_descriptors();

    MPI_Comm comm_;
    int rank_ = 0;
    std::size_t ranks_ = 0;
    Reason reason_ = Reason::none;
    trefoil_comm_t threaded_ = nullptr, serial_ = nullptr;
    MPI_Request never_ = MPI_REQUEST_NULL;  ///< a receive that waits for ever
    std::unique_ptr<Trials> trials_;
    bool creating_ = false;
    bool settled_ = false;
    trefoil_request_t ends_[2] = {TREFOIL_REQUEST_NULL, TREFOIL_REQUEST_NULL};
    trefoil_status_t failure_ = TREFOIL_SUCCESS;
    std::string failure_text_;
};

/// Counts the shadow communicators that ended, for the cache below.
extern std::atomic<std::uint64_t> ended_shadows;
/// Some wait for their peers since their communicators have gone.
extern std::atomic<bool> any_shadow_parked;
/// Destroys those of them whose peers are done. Any thread that is in no lock of the layer's.
void reap_shadows();

/// Null when MPI does not know the communicator either.
ShadowCommunicator* find_or_make_shadow(MPI_Comm comm);

/// The same, for a thread that keeps to one communicator without a look-up. A communicator's handle
/// may come back for another one only after an end was counted.
inline ShadowCommunicator* shadow_of(MPI_Comm comm) {
    struct Last {
        std::uint64_t handle = 0, ended = ~std::uint64_t{0};
        ShadowCommunicator* shadow = nullptr;
    };
    [[gnu::tls_model("initial-exec")]] static thread_local Last last;
    if (any_shadow_parked.load(std::memory_order_relaxed)) {
        reap_shadows();
    }
    const std::uint64_t ended = ended_shadows.load(std::memory_order_acquire);
    if (last.handle != number_of(comm) || last.ended != ended) {
        last = {number_of(comm), ended, find_or_make_shadow(comm)};
    }
    return last.shadow;
}

/// Before MPI_Comm_free: waits until no rank needs another's shadow any more.
void settle(MPI_Comm comm);
/// Before MPI_Finalize: the same for all that are left, and their end.
void end_shadows();

}  // namespace trefoil::mpi
