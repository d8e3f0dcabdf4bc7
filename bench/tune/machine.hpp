// SPDX-License-Identifier: BSD-3-Clause
// What a machine's ports and processors do, measured by calls that use one port, all ports, or
// none; and the numbers of the cost model that follow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/analysis/cost.hpp"
#include "bench/perf/session.hpp"
#include "comm/setup/tuning_writer.hpp"

namespace trefoil::tool {

/// One direction, in which all ranks send at the same time. Seconds, and per second.
struct PortFigures {
    std::string port = {};  ///< "+0"
    std::string nic = {};   ///< of rank 0; empty: the transport's choice
    double latency = 0;     ///< of a call with one message of 8 bytes
    double bytes_rate = 0;  ///< of one message of `MachineFigures::large` bytes
    double messages = 0;    ///< of 8 bytes, begun 16 at a time
};

struct MachineFigures {
    static constexpr std::size_t large = std::size_t{1} << 20;
    std::vector<PortFigures> ports;
    // The same through all ports at once, a message through each.
    double latency_of_all = 0, rate_of_all = 0;
    // To the farthest rank, if that is more than a hop away: what each further hop adds.
    std::optional<double> hop;
    // Of every rank at the same time, in its own memory: bytes per second.
    double copy = 0, reduction = 0;
};

/// Collective; equal on all ranks. `slice`: seconds of each measurement, repeated five times.
MachineFigures measure_machine(Session& session, double slice);

/// `now`: what the job goes by. Where ranks share cores, a message costs processors' time, and what
/// is left of the latency is a wait.
ModelNumbers numbers_of(const MachineFigures& figures, const CostModel& now);
/// "step=1.2us,rate=25gbit".
std::string text_of(const ModelNumbers& numbers);

}  // namespace trefoil::tool
