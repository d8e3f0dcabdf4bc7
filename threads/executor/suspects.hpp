// SPDX-License-Identifier: BSD-3-Clause
// Whose fault a stall is, as far as one rank can tell.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "threads/executor/executor_options.hpp"
#include "threads/executor/peer_reports.hpp"

namespace trefoil {

/// A rank in words: "rank 5 (process 4711 on host a)".
std::string rank_text(const ExecutorOptions& options, Rank rank);

struct Suspect {
    Blame blame{};
    std::string text{};  ///< what is known of the culprit: "rank 4 (...) is stopped"
    bool operator==(const Suspect&) const = default;
};

/// What a stalled rank knows.
struct StallKnowledge {
    Rank self = 0;
    std::uint64_t call = 0;                  ///< its number
    PeerReports::Clock::time_point since{};  ///< of the stall
    std::span<const Rank> missing{};         ///< from whom something is missing
    std::span<const ProcessNews> processes{};
};

/// Each rank misses something of its neighbours. A neighbour that reports that it is stalled, too,
/// lives and waits for others, so the fault is not its own: it is that of the one that it suspects.
/// A neighbour that says nothing is the suspect, and whoever misses something of it tells the
/// others. So all ranks come to suspect the rank that nobody hears from, however far it is. A
/// process that is stopped is suspected before all others.
///
/// Nobody is suspected before reports have had time to come (`settled`).
Suspect suspect_of(const StallKnowledge& known, const PeerReports& reports,
                   const ExecutorOptions& options, bool settled);

}  // namespace trefoil
