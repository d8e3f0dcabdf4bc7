// SPDX-License-Identifier: BSD-3-Clause
// What a rank is doing, as data, in words and as JSON. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "threads/executor/call_report.hpp"
#include "topo/torus.hpp"

namespace trefoil {

struct CommunicatorReport {
    std::uint64_t number = 0;  ///< alike on all its ranks
    Rank rank = 0;
    std::vector<Rank> members;           ///< by its ranks, the rank in the first communicator
    std::string torus;                   ///< "3x3"
    std::uint64_t made = 0;              ///< calls that this rank has begun so far
    std::string failure;                 ///< why it has failed; "": it has not
    std::vector<CallReport> calls;       ///< in flight, the oldest first
    std::chrono::milliseconds idle{-1};  ///< as ExecutorReport::idle
};
/// Lines, each with its end.
std::string text_of(const CommunicatorReport& report);

struct RankReport {
    Rank rank = 0, ranks = 1;  ///< in the first communicator
    std::string host;
    int process = 0;
    bool inside = false;  ///< a thread is in a call of Trefoil's, or port threads work for one
    /// False: who works for the calls did not stop for a look. Then the communicators are missing.
    bool looked = true;
    std::vector<CommunicatorReport> communicators;
    std::vector<std::string> addresses;  ///< where each rank is asked, by rank
};
std::string text_of(const RankReport& report);
/// One object, without line breaks.
std::string json_of(const RankReport& report);

}  // namespace trefoil
