// SPDX-License-Identifier: BSD-3-Clause
// Who drives which port, and where: the one rule for port threads, their ports and their cores.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "comm/setup/environment.hpp"
#include "comm/setup/nic_choice.hpp"
#include "topo/cpu_quota.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Ports that lead somewhere: those of dimensions of size 2 or more, in the torus or in that of its
/// fabric, whose ports have the links.
std::vector<Port> used_ports(const Torus& torus);

/// How a rank's ports are divided among threads.
struct PortGroups {
    int threads = 0;                        ///< 0: the calling thread drives all ports
    std::vector<std::vector<Port>> groups;  ///< used ports per owner thread, round-robin
    /// The last group is the ports of the host dimension: memory, where the others are the
    /// backend's. The first thread drives it, too.
    bool has_inside = false;
};

/// Refuses a number of port threads, or cores, that do not suit the torus or
/// TREFOIL_PORT_THREADS_BY. The number of OpenMP threads becomes what the runtime grants, so that
/// every group of ports has a thread. Throws what openmp_threads() throws, and
/// Error(invalid_argument).
void settle_port_threads(const Torus& torus, Settings& settings);

/// The ports of a node of several ranks are memory, whatever the backend is; empty where each rank
/// is a node, or all ports are the backend's because it is memory itself.
std::vector<Port> inside_ports(const Torus& torus, const Settings& settings);

/// `masks`: the cores that each rank of the job on this host may use, of which this is number
/// `self`; its `Settings::pin_cores` count as its mask if given. Without an explicit number, a rank
/// gets as many threads as its share of the cores, or of those that it has time for, if that is at
/// least two: a thread that must wait for a core costs more than it drives.
PortGroups group_ports(const Torus& torus, const Settings& settings,
                       const std::vector<std::vector<int>>& masks, int self,
                       double cores_in_time = std::numeric_limits<double>::infinity());

/// What a rank of this host brings to the division of cores.
struct LocalRank {
    std::vector<int> mask;               ///< cores that it may use, ascending
    std::vector<std::vector<int>> near;  ///< per port thread: cores near its NICs; may be empty
    bool pin = true;                     ///< false: its threads go where the system puts them
    std::vector<int> list;               ///< TREFOIL_PIN=LIST; empty: automatic
    std::vector<CpuQuota> quotas{};
};

/// Where the threads of one rank run.
struct Placement {
    std::vector<int> cores;  ///< per thread; empty: not pinned
    bool may_spin = false;   ///< every thread of the job on this host has a core, and time for it
    std::string oversubscription;  ///< more threads than cores, in words; empty: there are enough
};

/// Places the threads of rank `self` of `ranks`, all of one host; a pure function, so that each
/// rank knows what the others do. A thread takes the core that fewest threads have, of these one
/// near its NICs, of these the first. A list is divided among the ranks of the host that give one.
/// Throws Error(invalid_argument) for a core of the list that no rank of the host may use, or that
/// this rank is to use and may not.
Placement place_threads(const std::vector<LocalRank>& ranks, int self);

/// The cores near the NICs of a group's ports; empty: unknown.
std::vector<int> cores_near(const std::vector<Port>& ports, const NicChoice& nics);

}  // namespace trefoil
