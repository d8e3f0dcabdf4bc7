// SPDX-License-Identifier: BSD-3-Clause
// The end of a trial: the slowest rank's times count, since its peers wait for it.
#include "mpi/tuning.hpp"

#include "mpi/allgather.hpp"

namespace trefoil::mpi {

void Trial::note(std::chrono::duration<double> took, MPI_Comm comm) {
    if (calls_ >= warm_up) {
        seconds_[static_cast<std::size_t>(calls_ % 2)] += took.count();
    }
    ++calls_;
    if (decided()) {
        // Nanoseconds: a collective that does not block is not the layer's own in any MPI.
        std::array<std::uint64_t, 2> slowest{static_cast<std::uint64_t>(seconds_[0] * 1e9),
                                             static_cast<std::uint64_t>(seconds_[1] * 1e9)};
        trefoil_wins_ = !greatest(comm, slowest) || slowest[0] <= slowest[1];
    }
}

}  // namespace trefoil::mpi
