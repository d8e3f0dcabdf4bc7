// SPDX-License-Identifier: BSD-3-Clause
// Which thread and NIC would drive each port of rank 0, with all ranks of a torus on this machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "comm/setup/nic_choice.hpp"
#include "comm/setup/placement.hpp"
#include "topo/torus.hpp"

namespace trefoil::tool {

class PortMap {
  public:
    /// Opens the ports as a communicator would; throws Error(invalid_argument) on bad settings.
    PortMap(const Torus& torus, const Settings& settings);

    /// "the calling thread", or "port thread 1 on core 4"
    std::string owner(Port port) const;
    /// The provider that was opened; empty where the backend has only one, or refuses.
    std::string provider() const;
    /// Its name is empty where the transport chooses, or where there is none.
    const PortNic& nic(Port port) const { return nics_[port.index]; }
    bool may_spin() const { return placement_.may_spin; }
    int threads() const { return groups_.threads; }
    /// "net 127.0.0.1 (lo)"; or why the port cannot be opened
    std::string attachment(Port port) const;
    /// Which NIC was chosen and why: "lo (default: all ranks are on this host, shared by 4 ports)"
    std::string choice(Port port) const;
    /// What wants to be known of all ports together: more threads than cores; may be empty.
    const std::string& note() const { return placement_.oversubscription; }

  private:
    PortGroups groups_;
    Placement placement_;
    NicChoice nics_;
    bool openmp_ = false;
    std::vector<std::unique_ptr<PortGroup>> opened_;
    std::string refusal_;
};

}  // namespace trefoil::tool
