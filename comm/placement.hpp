// SPDX-License-Identifier: BSD-3-Clause
// Who drives which port: the one rule for the number of port threads, their cores and their ports.
#pragma once

#include <vector>

#include "comm/environment.hpp"
#include "topo/torus.hpp"

namespace trefoil {

struct Placement {
    int threads = 0;  ///< 0: the calling thread drives all ports
    /// Ports per owner thread, round-robin. Ports of dimensions of size 1 lead nowhere: not listed.
    std::vector<std::vector<Port>> groups;
    std::vector<int> cores;  ///< of the threads; empty: not pinned
    bool may_spin = false;   ///< every thread of the job on this host has a core of its own
};

/// `cores`: those in the process's mask. `local_ranks`: ranks of the job on this host, of which
/// this is number `local_rank`. Without an explicit count, a rank gets as many threads as its share
/// of the cores, if that is at least two: a thread that must wait for a core costs more than it
/// drives.
Placement place_ports(const Torus& torus, const Settings& settings, const std::vector<int>& cores,
                      Rank local_ranks, Rank local_rank);

}  // namespace trefoil
