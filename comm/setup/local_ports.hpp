// SPDX-License-Identifier: BSD-3-Clause
// The ports of one rank: who drives them, the NICs they are attached to, the cores of their
// threads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backend/ports/transport.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/found_links.hpp"
#include "comm/setup/job.hpp"
#include "comm/setup/nic_choice.hpp"
#include "comm/setup/placement.hpp"
#include "comm/setup/torus_map.hpp"

namespace trefoil {

/// Settled in three steps, in this order: each rank chooses for itself, all compare what they have
/// chosen, each places its threads beside those of the host's other ranks. Several communicators
/// may come to share one of these with its port groups and port threads.
class LocalPorts {
  public:
    /// `settings` has a backend and what settle_port_threads() makes of it. Throws what
    /// choose_nics_here() throws.
    LocalPorts(const Job& job, const TorusMap& map, const Settings& settings);

    /// What the other ranks need to know of the choice.
    std::string proposal() const;
    /// `proposals`: of all ranks. Throws alike on all ranks.
    void compare(const std::vector<std::string>& proposals);
    /// Throws what place_threads() throws.
    void place();

    /// What all ranks say of their links, by rank, once: when they have been compared, and where
    /// links are not as given.
    std::vector<std::vector<PortLink>> take_links() { return std::exchange(links_, {}); }
    const PortGroups& groups() const { return groups_; }
    const Placement& placement() const { return placement_; }
    /// The NIC of a port; "": the transport's choice.
    const char* nic(Port port) const;
    /// What the transport is asked to open.
    BackendConfig backend_config() const;
    /// The same for the memory of a node of several ranks, where PortGroups::has_inside.
    BackendConfig inside_config() const;

  private:
    BackendConfig config() const;

    const Job& job_;
    std::string provider_;
    bool pin_ = true;
    std::vector<int> pin_cores_;
    bool tells_links_ = false;
    PortGroups groups_;
    NicChoice nics_;  ///< by port; a rank alone needs none
    std::vector<std::vector<PortLink>> links_;
    std::vector<LocalRank> host_ranks_;  ///< the ranks of this host
    Placement placement_;
};

}  // namespace trefoil
