// SPDX-License-Identifier: BSD-3-Clause
// Comparing settings: by a hash; the texts travel only when they differ.
#include "mpi/agreement.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "mpi/allgather.hpp"
#include "mpi/layer.hpp"
#include "mpi/words.hpp"

namespace trefoil::mpi {

namespace {

constexpr std::size_t text_bytes = 512;

std::string rank_list(const std::vector<int>& ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size() && i < 8; ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
    }
    return text + (ranks.size() > 8 ? ", ..." : "");
}

std::string difference(const std::vector<char>& texts, int ranks) {
    std::map<std::string, std::vector<int>> who;
    for (int r = 0; r < ranks; ++r) {
        who[&texts[static_cast<std::size_t>(r) * text_bytes]].push_back(r);
    }
    std::string told = "the ranks of this job have different settings of the MPI layer:";
    for (const auto& [text, of] : who) {
        told += "\n  " + rank_list(of) + ": " + text;
    }
    return told +
           "\ngive all ranks the same, e.g. with `mpirun -x` (Open MPI) or `mpiexec -genv` (MPICH)";
}

/// After the reason was printed.
[[noreturn]] void end_job() {
    // Launchers that end a job at once forget what they had still to pass on.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    PMPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

/// Rank 0 has said why; the others leave it the time to.
[[noreturn]] void end_job_after_rank_0(int rank) {
    if (rank != 0) {
        PMPI_Barrier(MPI_COMM_WORLD);  // ended by rank 0's abort
    }
    end_job();
}

}  // namespace

void agree_or_abort(const std::string& settings, const std::string& problem) {
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::uint64_t hash = std::hash<std::string>{}(settings);
    std::array<std::uint64_t, 2> numbers{hash, ~hash};
    if (!greatest(MPI_COMM_WORLD, numbers)) {
        say(TREFOIL_LOG_ERROR,
            "rank " + std::to_string(rank) +
                ": not all ranks of this job came to compare their settings within " +
                std::to_string(layer.patience.count() / 1000) + " s: " +
                (is_component ? "do all of them have Trefoil's component?"
                              : "is the MPI layer preloaded on all of them?"));
        end_job();
    }
    if (numbers[0] != ~numbers[1]) {
        std::vector<char> mine(text_bytes), all(text_bytes * static_cast<std::size_t>(ranks));
        std::strncpy(mine.data(), settings.c_str(), text_bytes - 1);
        PMPI_Gather(mine.data(), text_bytes, MPI_CHAR, all.data(), text_bytes, MPI_CHAR, 0,
                    MPI_COMM_WORLD);
        if (rank == 0) {
            say(TREFOIL_LOG_ERROR, difference(all, ranks));
        }
        end_job_after_rank_0(rank);
    }
    if (!problem.empty()) {
        if (rank == 0) {
            say(TREFOIL_LOG_ERROR, problem);
        }
        end_job_after_rank_0(rank);
    }
}

}  // namespace trefoil::mpi
