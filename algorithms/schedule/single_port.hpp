// SPDX-License-Identifier: BSD-3-Clause
// Single-port variants of algorithms for ranks in a line, which do not look at the torus.
#pragma once

#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// The ring of all ranks in linear order.
Torus line_of(const Torus& torus);

/// The torus for which the schedule is made: `torus` itself, or the line when `single_port`.
inline Torus line_if(bool single_port, const Torus& torus) {
    return single_port ? line_of(torus) : torus;
}

/// A schedule made for the ring of all ranks, on `torus`: who exchanges what with whom stays, and
/// each message takes the first port of its shortest way.
Schedule through_first_ports(const Torus& torus, Schedule schedule);

}  // namespace trefoil
