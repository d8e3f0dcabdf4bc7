// SPDX-License-Identifier: BSD-3-Clause
// The end of a trial: the slowest rank's times count, since its peers wait for it.
#include "mpi/tuning.hpp"

namespace trefoil::mpi {

void Trial::note(std::chrono::duration<double> took, MPI_Comm comm) {
    if (calls_ >= warm_up) {
        seconds_[static_cast<std::size_t>(calls_ % 2)] += took.count();
    }
    ++calls_;
    if (decided()) {
        const std::array<double, 2> mine = seconds_;
        PMPI_Allreduce(mine.data(), seconds_.data(), 2, MPI_DOUBLE, MPI_MAX, comm);
        trefoil_wins_ = seconds_[0] <= seconds_[1];
    }
}

}  // namespace trefoil::mpi
