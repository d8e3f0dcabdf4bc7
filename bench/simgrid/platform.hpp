// SPDX-License-Identifier: BSD-3-Clause
// The network of a job as SimGrid knows it.
#pragma once

#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "bench/simgrid/job.hpp"

namespace trefoil::simgrid_engine {

/// SimGrid has one route from host to host. So ranks between which there are several ways have
/// several hosts, and each way has a pair of them.
class Platform {
  public:
    /// Within the engine of this process. Takes 8 bytes for each pair of hosts.
    explicit Platform(const Job& job);

    /// Those of a way.
    std::pair<simgrid::s4u::Host*, simgrid::s4u::Host*> hosts(std::size_t way) const {
        return pairs_[way];
    }
    simgrid::s4u::Host* any_host() const { return pairs_.front().first; }

  private:
    std::vector<std::pair<simgrid::s4u::Host*, simgrid::s4u::Host*>> pairs_;
};

}  // namespace trefoil::simgrid_engine
