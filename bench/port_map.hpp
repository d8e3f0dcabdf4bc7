// SPDX-License-Identifier: BSD-3-Clause
// Which thread and NIC would drive each port of rank 0, with all ranks of a torus on this machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/endpoint.hpp"
#include "comm/placement.hpp"
#include "topo/torus.hpp"

namespace trefoil::tool {

class PortMap {
  public:
    /// Reads the environment as a communicator does; throws Error(invalid_argument) on bad values.
    explicit PortMap(const Torus& torus);

    /// "the calling thread", or "port thread 1 on core 4"
    std::string owner(Port port) const;
    /// "net 127.0.0.1 (lo)"; or why the port cannot be opened
    std::string attachment(Port port) const;

  private:
    Placement placement_;
    std::vector<std::unique_ptr<PortGroup>> opened_;
    std::string refusal_;
};

}  // namespace trefoil::tool
