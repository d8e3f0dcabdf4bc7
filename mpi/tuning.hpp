// SPDX-License-Identifier: BSD-3-Clause
// TREFOIL_MPI_TUNE: finds out, while a program runs, whether Trefoil or the MPI below is faster.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>

#include "mpi/api.hpp"
#include "mpi/collective_kind.hpp"

namespace trefoil::mpi {

/// The trial of one collective for sizes of one power of two on one communicator: its first calls
/// go to either in turns. Then the ranks tell each other what these took, and all take the faster.
/// All ranks of a communicator make the same calls, hence know the same turn.
class Trial {
  public:
    bool decided() const { return calls_ == all_calls; }
    /// Of the next call.
    bool is_trefoils() const { return decided() ? trefoil_wins_ : calls_ % 2 == 0; }
    /// After a call that was no more decided. Collective at the end of the trial.
    void note(std::chrono::duration<double> took, MPI_Comm comm);

  private:
    static constexpr int warm_up = 2, all_calls = warm_up + 10;  // both halves even

    int calls_ = 0;
    bool trefoil_wins_ = true;
    std::array<double, 2> seconds_{};  ///< Trefoil's, MPI's
};

/// All trials of a communicator.
class Trials {
  public:
    Trial& of(Kind kind, std::size_t bytes) {
        return trials_[index(kind)][static_cast<std::size_t>(std::bit_width(bytes))];
    }

  private:
    std::array<std::array<Trial, std::bit_width(unknown_bytes) + 1>, kinds> trials_{};
};

}  // namespace trefoil::mpi
