// SPDX-License-Identifier: BSD-3-Clause
// Finds out what has started this process, and lets the ranks meet the way that launcher offers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/bootstrap/bootstrap.hpp"
#include "topo/torus.hpp"

namespace trefoil {

enum class Launcher : std::uint8_t {
    store,  ///< `trefoil run`, or by hand: TREFOIL_RANK, TREFOIL_SIZE, TREFOIL_STORE
    pmix,   ///< Open MPI's mpirun, prterun, srun --mpi=pmix: PMIX_NAMESPACE, PMIX_RANK
    pmi,    ///< MPICH's hydra, srun --mpi=pmi2: PMI_FD, PMI_RANK, PMI_SIZE
    single  ///< nothing: one rank alone
};

/// "store", "pmix", "pmi", "single"
std::string_view to_string(Launcher launcher);
/// The launcher of that name; nothing for other names.
std::optional<Launcher> launcher_named(std::string_view name);

/// What the user's settings say about meeting the other ranks.
struct LauncherRequest {
    std::optional<Launcher> launcher;  ///< nothing: the first that the environment indicates
    std::string store;                 ///< "host:port", or empty
    std::string token;                 ///< of the store: what all ranks of the job know
    std::string job = "default";       ///< the group of ranks: each communicator has its own
    Rank rank = 0;                     ///< of the store
    Rank ranks = 0;                    ///< of the store; 0: not given
    std::chrono::milliseconds deadline{120'000};  ///< of every allgather
};

struct LauncherChoice {
    Launcher launcher = Launcher::single;
    std::string reason;  ///< "PMIX_NAMESPACE and PMIX_RANK are set"
};

/// The launcher that was asked for; else the first of store, pmix and pmi whose variables are set;
/// else single. Starts nothing.
LauncherChoice choose_launcher(const LauncherRequest& request);

/// The bootstrap by the chosen launcher. Throws Error(invalid_argument) when the launcher's
/// variables make no sense, Error(unsupported) when this build cannot speak to it, Error(timeout)
/// when nobody answers before the deadline. What belongs to the process (the store that rank 0
/// serves, the connection to PMIx or PMI) is made once and lives until the process ends.
std::unique_ptr<Bootstrap> make_launcher_bootstrap(const LauncherRequest& request);

/// Why this build or machine cannot use PMIx; empty if it can.
std::string pmix_refusal();
/// Of the libpmix that is loaded; only where pmix_refusal() is empty.
std::string pmix_version();

}  // namespace trefoil
