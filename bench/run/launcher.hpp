// SPDX-License-Identifier: BSD-3-Clause
// Runs a program as N local ranks and stays until the last one has ended.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil::tool {

struct Job {
    enum class Output {
        labelled,   ///< every line of every rank, after "[rank] "
        plain,      ///< every line of every rank
        first_rank  ///< rank 0 writes where we do; of the others, only why the job failed
    };

    std::string name = "trefoil run";  ///< opens our own messages
    Rank ranks = 1;
    std::string torus;  ///< TREFOIL_TORUS of the ranks; empty: what the environment says
    std::vector<std::string> command;
    std::vector<std::pair<std::string, std::string>> environment;  ///< further variables
    std::vector<std::vector<std::string>> prefixes;  ///< what each rank's command runs under
    bool bind = true;   ///< each rank to the cores of a NUMA node, where there are several
    std::string store;  ///< "host:port" where rank 0 serves the store; empty: served from here
    Output output = Output::labelled;
    std::chrono::milliseconds timeout{0};  ///< of the whole job; 0: none
    /// How long the others may go on after a rank has failed, and how long any rank may take to end
    /// after SIGTERM before it gets SIGKILL.
    std::chrono::milliseconds grace{5000};
};

/// The exit code of a job whose ranks all ended well, but whose output could not be written.
inline constexpr int exit_lost_output = 3;
/// The exit code of a job that took longer than its timeout, as timeout(1) has it.
inline constexpr int exit_timed_out = 124;

/// Starts the ranks with TREFOIL_RANK, TREFOIL_SIZE, TREFOIL_LOCAL_RANK, TREFOIL_LOCAL_SIZE,
/// TREFOIL_STORE (served from here unless the job says otherwise) and TREFOIL_TORUS, forwards
/// SIGINT, SIGTERM and SIGHUP to them, and returns the exit code of the first that failed (128 +
/// signal if it was killed), or 0. Call it before the process has other threads: it blocks those
/// signals for all of them.
int launch(const Job& job);

}  // namespace trefoil::tool
