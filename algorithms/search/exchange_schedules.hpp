// SPDX-License-Identifier: BSD-3-Clause
// From exchanges to schedules.
#pragma once

#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "algorithms/search/coset_exchange.hpp"

namespace trefoil {

/// Of all ranks, in one part: allreduce, whose messages are sums of classes, which all ranks add in
/// the order of the classes; allgather, whose messages are the blocks of a class; reduce_scatter,
/// which is the allgather backwards, of an exchange found on WayTable::reversed(). There
/// Exchange::per_port counts what arrives through a port; where ranks are not alike, more may
/// leave.
std::vector<Schedule> exchange_schedules(const Exchange& exchange, Rank ranks,
                                         Collective collective);

}  // namespace trefoil
