// SPDX-License-Identifier: BSD-3-Clause
// Single-port variants: from the ring of all ranks to the torus.
#include "algorithms/schedule/single_port.hpp"

namespace trefoil {

Torus line_of(const Torus& torus) {
    return Torus({torus.ranks()});
}

Schedule through_first_ports(const Torus& torus, Schedule schedule) {
    for (Send& s : schedule.sends) {
        s.port = torus.first_port(schedule.rank, s.peer);
    }
    for (Receive& r : schedule.receives) {
        r.port = torus.first_port(r.peer, schedule.rank).opposite();
    }
    return schedule;
}

}  // namespace trefoil
