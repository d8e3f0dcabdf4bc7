// SPDX-License-Identifier: BSD-3-Clause
// The ranks of `trefoil perf` on this machine: as threads that meet in memory, or as processes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "topo/torus.hpp"

namespace trefoil::tool {

/// One rank that is a thread of this process, and how it meets the others.
struct ThreadRank {
    Rank rank, ranks;
    AllgatherCallback allgather;
    void* context;  ///< of `allgather`; lives as long as the call of the rank's body
};

/// Runs `body` once per rank, each in a thread of its own; returns the largest exit code, or throws
/// what the first rank that failed has thrown.
int launch_threads(Rank ranks, const std::function<int(const ThreadRank&)>& body);

/// Runs this tool again, with the same `arguments`, as so many processes, and returns the exit code
/// of the job. `name` opens the launcher's messages. `torus` becomes TREFOIL_TORUS of the ranks;
/// empty: what the environment says.
int launch_processes(const std::string& name, Rank ranks, const std::string& torus,
                     const std::vector<std::string>& arguments);

/// Who has started this process as one of the ranks, if anybody has: "pmi: PMI_FD is set". Empty:
/// nobody, so that perf starts ranks itself.
std::string launcher_text();

/// Throws Error(invalid_argument) unless `launch` is "processes" or "threads".
void check_launch(const std::string& launch);
/// Throws Error(invalid_argument): --launch threads under the launcher that launcher_text() names.
[[noreturn]] void refuse_threads(const std::string& launcher);
/// Throws Error(invalid_argument) when the file of `option` cannot be written: before anything
/// runs, since a result that cannot be kept is better found out now than in the end. An empty name
/// is none.
void require_writable(const std::string& option, const std::string& file);

}  // namespace trefoil::tool
