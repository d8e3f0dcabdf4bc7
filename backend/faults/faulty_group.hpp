// SPDX-License-Identifier: BSD-3-Clause
// A port group that injects faults into another one, for tests and debugging.
#pragma once

#include <memory>
#include <vector>

#include "backend/faults/fault_plan.hpp"
#include "backend/ports/port_group.hpp"

namespace trefoil {

/// Each group with the plan's faults, or as it is where the plan does not concern the rank. What
/// happens to the n-th put depends on seed, rank, ports and n alone; when, on the clock, too.
/// Unlike other port groups these allocate while they run. Reads of peers' memory (single copy) are
/// no puts and are left alone.
std::vector<std::unique_ptr<PortGroup>> with_faults(std::vector<std::unique_ptr<PortGroup>> groups,
                                                    const FaultPlan& plan, Rank rank);

}  // namespace trefoil
