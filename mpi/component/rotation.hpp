// SPDX-License-Identifier: BSD-3-Clause
// An allgather by messages: in ceil(log2 ranks) steps (Bruck et al., 1997). In step k a rank sends
// the blocks it has, of itself and those after it, to the rank 2^k before it.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/allgather.hpp"
#include "mpi/api.hpp"

namespace trefoil::mpi {

/// Beside all other messages of a communicator, and in the order of the exchanges of that purpose
/// alone: ranks need not have made the same calls before.
class Rotation {
  public:
    Rotation(MPI_Comm comm, int rank, int ranks, Purpose purpose)
        : comm_(comm), rank_(rank), ranks_(ranks), purpose_(purpose) {}

    /// An exchange begins; `mine` is copied. False: MPI has failed.
    bool begin(const void* mine, std::size_t bytes);
    /// True: it is over; then failed() and copy_to() tell what came out. Without letting MPI go on.
    bool advance();
    bool failed() const { return failed_; }
    void copy_to(void* all) const;

  private:
    bool send_step();

    MPI_Comm comm_;
    int rank_, ranks_;
    Purpose purpose_;
    bool failed_ = false;
    std::size_t bytes_ = 0;
    std::vector<std::byte> blocks_;  ///< of this rank, then of those after it
    int have_ = 0;                   ///< blocks
    int receiving_ = 0;              ///< blocks
    MPI_Request sent_{}, received_{};
};

}  // namespace trefoil::mpi
