// SPDX-License-Identifier: BSD-3-Clause
// Following reports to the rank that nobody hears from.
#include "threads/executor/suspects.hpp"
#include "topo/patience.hpp"

#include <optional>

namespace trefoil {

namespace {

/// What a peer that lives has said last.
std::optional<PeerReports::Stall> word_of(Rank peer, const StallKnowledge& known,
                                          const PeerReports& reports) {
    std::optional<PeerReports::Stall> stall = reports.stall_of(peer);
    const bool lives = stall && (stall->report.call >= known.call ||
                                 stall->at + patience().still_fresh >= known.since);
    return lives ? stall : std::nullopt;
}

Suspect silent(Rank rank, const ExecutorOptions& options) {
    return {{rank, Evidence::silent}, rank_text(options, rank) + " does not answer"};
}

}  // namespace

std::string rank_text(const ExecutorOptions& options, Rank rank) {
    const std::string process = options.process_text ? options.process_text(rank) : "";
    return "rank " + std::to_string(rank) + (process.empty() ? "" : " (" + process + ")");
}

Suspect suspect_of(const StallKnowledge& known, const PeerReports& reports,
                   const ExecutorOptions& options, bool settled) {
    for (const ProcessNews& process : known.processes) {
        if (process.state == ProcessNews::State::stopped && process.rank != known.self) {
            return {{process.rank, Evidence::stopped},
                    rank_text(options, process.rank) + " is stopped"};
        }
    }
    Suspect told;
    for (const Rank peer : known.missing) {
        const auto word = word_of(peer, known, reports);
        if (!word && settled) {
            return silent(peer, options);
        }
        const Blame named = word ? word->report.suspect : Blame();
        if (told.blame.culprit == Blame::nobody && named.culprit >= 0 &&
            named.culprit != known.self) {
            told = {named, word->report.text};
        }
    }
    return told;
}

}  // namespace trefoil
