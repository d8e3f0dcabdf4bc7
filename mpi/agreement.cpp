// SPDX-License-Identifier: BSD-3-Clause
// Comparing settings: by a hash; the texts travel only when they differ.
#include "mpi/agreement.hpp"

#include <array>
#include <chrono>
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

std::string difference(const std::vector<char>& texts, int ranks) {
    std::map<std::string, std::vector<int>> who;
    for (int r = 0; r < ranks; ++r) {
        who[&texts[static_cast<std::size_t>(r) * text_bytes]].push_back(r);
    }
    std::string told =
        "MPI runs all collectives of this job, as its ranks have different settings of the MPI "
        "layer:";
    for (const auto& [text, of] : who) {
        told += "\n  " + rank_list(of) + ": " + text;
    }
    return told +
           "\ngive all ranks the same, e.g. with `mpirun -x` (Open MPI) or `mpiexec -genv` (MPICH)";
}

}  // namespace

std::string rank_list(const std::vector<int>& ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size() && i < 8; ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
    }
    return text + (ranks.size() > 8 ? ", ..." : "");
}

bool agree(const std::string& settings, const std::string& problem) {
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string text = settings + (problem.empty() ? "" : " (" + problem + ")");
    const std::uint64_t hash = std::hash<std::string>{}(text);
    std::array<std::uint64_t, 2> numbers{hash, ~hash};
    if (!greatest(MPI_COMM_WORLD, numbers)) {
        say(TREFOIL_LOG_ERROR,
            "rank " + std::to_string(rank) +
                ": not all ranks of this job came to compare their settings within " +
                std::to_string(layer.patience.count() / 1000) +
                " s: is the MPI layer preloaded on all of them?");
        // Launchers that end a job at once forget what they had still to pass on.
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (numbers[0] != ~numbers[1]) {
        std::vector<char> mine(text_bytes), all(text_bytes * static_cast<std::size_t>(ranks));
        std::strncpy(mine.data(), text.c_str(), text_bytes - 1);
        PMPI_Gather(mine.data(), text_bytes, MPI_CHAR, all.data(), text_bytes, MPI_CHAR, 0,
                    MPI_COMM_WORLD);
        if (rank == 0) {
            say(TREFOIL_LOG_WARNING, difference(all, ranks));
        }
        return false;
    }
    if (!problem.empty() && rank == 0) {
        say(TREFOIL_LOG_WARNING, "MPI runs all collectives of this job: " + problem);
    }
    return problem.empty();
}

}  // namespace trefoil::mpi
