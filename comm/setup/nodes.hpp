// SPDX-License-Identifier: BSD-3-Clause
// Nodes of several ranks: found by where the launcher has put the ranks, and checked against it.
#pragma once

#include <string>

#include "comm/setup/job.hpp"
#include "comm/setup/torus_map.hpp"

namespace trefoil {

/// What a job is asked to look like, `request` without coordinates, where the launcher has put
/// equally many ranks, at least two, on each of several hosts: then hosts are nodes in the order of
/// their first ranks. A torus that has a place for each host gets nodes at them, and so does the
/// default one; one that has nodes of as many ranks gets the ranks of each host. One of all ranks
/// that may have a node has it where its last dimension is the ranks of each host. Any other is
/// left as it is.
TorusRequest with_nodes(TorusRequest request, const Job& job);

/// Throws Error(invalid_argument) that names two ranks of a node which are on different hosts.
void require_nodes(const TorusMap& map, const Job& job);

/// Why hosts with several ranks are no nodes of the torus, for the log; empty: they are, or there
/// are none.
std::string why_no_nodes(const TorusMap& map, const Job& job);

}  // namespace trefoil
