// SPDX-License-Identifier: BSD-3-Clause
// What `trefoil perf` is asked to measure: the options as typed, and the plan made of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "bench/common/schedule_file.hpp"
#include "bench/perf/common.hpp"
#include "threads/kernels/reduce.hpp"

namespace trefoil::tool {

/// What --op calls a reduction without arithmetic: the same schedule, whose results mean nothing.
inline constexpr std::string_view no_operation = "none";

/// The command line as typed; the flags are those of nccl-tests where it has them.
struct PerfOptions : CommonOptions {
    std::string collective;
    std::string step_bytes;
    std::string sizes;   ///< a list instead; empty: none
    std::string counts;  ///< elements instead of bytes
    int iterations = 20, warmup = 5;
    bool check = false;
    std::string datatypes = "float";
    std::string algorithms;  ///< empty: auto, or the schedule
    std::string schedule;    ///< a file; empty: none
    /// What it holds, once load_schedule() has read it.
    std::string schedule_text;
    std::shared_ptr<const UserSchedule> user_schedule;
    std::string operations;  ///< empty: sum; may hold `none`
    std::string root;        ///< empty: 0
    std::string placement = "both";
    std::string torus;
    Rank ranks = 0;
    std::optional<int> port_threads;
    bool resources = false;  ///< also tell memory, connections and descriptors
    std::string port_threads_by;
    std::string trace;                    ///< file of the timeline of all ranks; empty: none
    double late = 0;                      ///< seconds; 0: no late barrier
    std::optional<std::uint64_t> uneven;  ///< the seed of alltoallv's counts
    bool barriers = false;                ///< also with a barrier between calls
    bool persistent = false;              ///< also persistent calls
    int in_flight = 0;                    ///< also so many calls together; 0: not
    bool overlap = false;                 ///< also with a computation meanwhile
    double test_every = 0;                ///< microseconds of it between two tests; 0: none
};

/// An algorithm that was not measured, and why.
struct Skipped {
    std::string algorithm, reason;
    bool operator==(const Skipped&) const = default;
};

/// Everything that can be checked and worked out without a communicator, alike on all ranks.
struct Campaign {
    Collective collective = Collective::allreduce;
    struct Kind {
        DataType type;
        std::optional<Operation> operation;  ///< nothing: `none`, or where nothing is reduced
    };
    std::vector<Kind> kinds;
    std::vector<std::size_t> bytes;   ///< either bytes or counts is empty
    std::vector<std::size_t> counts;  ///< elements; of a block where ranks have blocks
    std::vector<std::string> roots;   ///< numbers and "all"; of rooted collectives
    std::vector<bool> in_place;
    std::optional<std::uint64_t> uneven;  ///< the seed of alltoallv's counts
    bool all_algorithms = false;          ///< those that refuse are skipped
    std::vector<std::string> algorithms;  ///< as asked: names and "auto"
    /// A schedule of the user's, which goes by its name among the algorithms.
    std::shared_ptr<const UserSchedule> schedule = {};

    /// Element counts for a type, without repetitions; of one block where ranks have blocks, so
    /// that all blocks together have as many bytes as asked, to within rounding.
    std::vector<std::size_t> counts_of(DataType type, const Torus& torus) const;
    /// Those asked for, {0} where there is none; "all" is the first, the middle and the last rank.
    /// Throws Error(invalid_argument) on what is no rank.
    std::vector<Rank> roots_of(Rank ranks) const;
};

/// Reads and proves the schedule's file, once. A torus that is not given is the schedule's. Throws
/// what read_schedule() throws.
void load_schedule(PerfOptions& options);

/// Throws Error with a message for the user when something does not exist or does not fit.
Campaign make_campaign(const PerfOptions& options);

/// Those of campaign.algorithms that run on the torus; the others are appended to `skipped`, or
/// thrown as Error(unsupported) when they were asked for by name.
std::vector<std::string> suitable_algorithms(const Campaign& campaign, const Torus& torus,
                                             std::vector<Skipped>& skipped);

/// From the smallest to the largest (empty: 1M, or the smallest if that is more), each greater than
/// the one before by `step`, or by `factor` if `step` is 0. Throws Error(invalid_argument).
std::vector<std::size_t> byte_sizes(const std::string& smallest, const std::string& largest,
                                    std::size_t step, int factor);

/// The number of ranks from --torus and --ranks, which must agree; 0 when neither is given.
Rank asked_ranks(const PerfOptions& options);

}  // namespace trefoil::tool
