// SPDX-License-Identifier: BSD-3-Clause
// The parameters of the cost model as users write them: "step=2us,hop=200ns,rate=25gbit".
#pragma once

#include <string>
#include <string_view>

#include "algorithms/cost.hpp"

namespace trefoil {

/// What algorithms are chosen by unless the user says otherwise: 2 us per step, 200 ns per hop, 25
/// Gbit/s per link. A cautious guess that leaves the algorithms which move whole vectors soon, as
/// what they also cost in copies and reductions is not in the model.
inline constexpr CostModel default_cost_model{2e-6, 200e-9, 8.0 / 25e9};

/// Names that are left out keep their default. Times take ns, us, ms or s; rates, of one direction
/// of a link, kbit, mbit, gbit or tbit (per second). Throws Error(invalid_argument) that says what
/// is wrong and how to write it.
CostModel parse_cost_model(std::string_view text);

/// In the same form, with all names: equal for equal models.
std::string to_string(const CostModel& model);

}  // namespace trefoil
