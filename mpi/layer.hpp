// SPDX-License-Identifier: BSD-3-Clause
// What the layer knows between MPI_Init and MPI_Finalize.
#pragma once

#include <array>
#include <chrono>

#include "mpi/api.hpp"
#include "mpi/budget.hpp"
#include "mpi/collective_kind.hpp"
#include "mpi/switches.hpp"
#include "mpi/tuning.hpp"

namespace trefoil::mpi {

inline constexpr std::chrono::milliseconds default_patience{120'000};
/// So many small calls of a communicator come before it may be worth a set-up. Fewer take a
/// fraction of a millisecond, wherever they run.
inline constexpr std::uint64_t fewest_calls = 1000;
/// Longer than any job, and clocks can still count it.
inline constexpr std::chrono::hours no_end{24 * 365 * 10};

struct Layer {
    /// Per collective: calls are looked at at all, because Trefoil may run them or the report
    /// counts them. False before MPI_Init and after MPI_Finalize. Written while no other thread is
    /// in MPI.
    std::array<bool, kinds> looks_at{};
    bool reports = false;
    Tuning tuning = Tuning::exact;
    Switches switches;
    /// All ranks of MPI_COMM_WORLD are, as far as it is known.
    bool is_on_one_host = false;
    /// So many small calls of each communicator are left to MPI first, at least.
    std::uint64_t early_calls = fewest_calls;
    /// Then the ranks ask each other whether they can afford a set-up.
    bool asks = true;
    Budget budget;
    /// How long ranks wait for each other when they prepare something.
    std::chrono::milliseconds patience = default_patience;
    /// By TREFOIL_TIMEOUT. Else, once MPI has begun, a rank waits for the others as long as it
    /// takes, as in MPI: they may come hours later, and nothing is wrong.
    bool has_time_out = false;
    /// Of this process alone. Nobody sends a message of tag 0 in it, so that looking for one does
    /// nothing but let MPI's own messages go on.
    MPI_Comm alone = MPI_COMM_NULL;
};
extern Layer layer;

/// Right after MPI's beginning, on all ranks: compares their settings. Where they differ or are not
/// valid, or not all ranks have the layer, all calls go to the MPI below.
void start();
/// In MPI_Finalize, on all ranks: waits for calls that still end, where the layer takes such that
/// do not block.
void finish_jobs();

}  // namespace trefoil::mpi
