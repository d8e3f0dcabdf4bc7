// SPDX-License-Identifier: BSD-3-Clause
// The parameters of the cost model as users write them: "step=2us,hop=200ns,rate=25gbit".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "algorithms/analysis/cost.hpp"

namespace trefoil {

/// What algorithms are chosen by unless the user says otherwise: 2 us per step, 200 ns per hop, 25
/// Gbit/s per link. A cautious guess that leaves the algorithms which move whole vectors soon, as
/// what they also cost in copies and reductions is not in the model.
inline constexpr CostModel default_cost_model{
    .alpha = 2e-6, .tau = 200e-9, .beta = 8.0 / 25e9, .copy = 0.1e-9, .pull = 0.1e-9};

/// The same where ranks share memory: with a core for each.
inline constexpr CostModel memory_cost_model{.alpha = 0.3e-6,
                                             .tau = 0,
                                             .beta = 8.0 / 200e9,
                                             .busiest = 0.2e-6,
                                             .copy = 0.1e-9,
                                             .pull = 0.1e-9,
                                             .reduce = 0.05e-9};

/// What a job's algorithms are chosen by: what was asked for, or the default for its backend; where
/// ranks share cores, with what their processors do, unless the model asked for tells that; its
/// `forward` is the time of one core, which all its ranks share.
/// `ranks_per_core`: the most of any host. Pure; equal on all ranks that give the same values.
///
/// Its numbers were measured with 9 and 4 ranks on 2 cores over TCP. Those of memory are near the
/// ones that, of all that were tried, lost the least in calls of 8 collectives from 8 bytes to 256
/// KiB by 4, 8 and 9 ranks on 2 cores: 4 % in the mean. A wait costs about what it takes to change
/// to the next rank of a core, and a message, which is a store with a flag, far less.
CostModel model_of_job(const std::optional<CostModel>& asked, bool in_memory,
                       double ranks_per_core);

/// Names that are left out keep their default. Times take ns, us, ms or s; rates, of one direction
/// of a link, kbit, mbit, gbit or tbit (per second). Throws Error(invalid_argument) that says what
/// is wrong and how to write it.
CostModel parse_cost_model(std::string_view text);

/// In the same form, with all names: equal for equal models.
std::string to_string(const CostModel& model);

}  // namespace trefoil
