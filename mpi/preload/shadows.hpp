// SPDX-License-Identifier: BSD-3-Clause
// Where the layers keep shadow communicators: as attributes of their communicators.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

/// Counts whenever a communicator's shadow may be another one than before, for the cache below.
extern std::atomic<std::uint64_t> changed_shadows;

/// Null when MPI does not know the communicator either.
ShadowCommunicator* find_or_make_shadow(MPI_Comm comm);

/// The same, for a thread that keeps to one communicator without a look-up.
inline ShadowCommunicator* shadow_of(MPI_Comm comm) {
    struct Last {
        std::uint64_t handle = 0, changed = ~std::uint64_t{0};
        ShadowCommunicator* shadow = nullptr;
    };
    [[gnu::tls_model("initial-exec")]] static thread_local Last last;
    if (any_shadow_parked.load(std::memory_order_relaxed)) {
        reap_shadows();
    }
    const std::uint64_t changed = changed_shadows.load(std::memory_order_acquire);
    if (last.handle != number_of(comm) || last.changed != changed) {
        last = {number_of(comm), changed, find_or_make_shadow(comm)};
    }
    return last.shadow;
}

/// From before a communicator's deletion begins until its handle may be another one's. Attributes'
/// delete functions may make collectives on it, in this thread, before Trefoil's own attribute goes
/// or after it: all of them are MPI's, on all ranks alike.
class Dying {
  public:
    explicit Dying(MPI_Comm comm);
    ~Dying();
    /// In this thread.
    static bool is(MPI_Comm comm);
    Dying(const Dying&) = delete;
    Dying& operator=(const Dying&) = delete;

  private:
    MPI_Comm comm_;
    const Dying* outer_;
};

}  // namespace trefoil::mpi
