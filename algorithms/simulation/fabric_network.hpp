// SPDX-License-Identifier: BSD-3-Clause
// The network of a fabric: links that are missing or slow, rows that close elsewhere.
#pragma once

#include <memory>
#include <optional>

#include "algorithms/simulation/network.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// Messages go as Fabric::route() says. Nothing in it looks alike.
class FabricNetwork final : public Network {
  public:
    /// `torus` has a fabric. `rate`: bytes per second of a whole link and direction.
    FabricNetwork(Torus torus, double rate);

    std::optional<std::int64_t> link(Rank rank, Port port) const override;
    using Network::route;
    void route(const Journey& journey, Ways& ways) const override;
    std::unique_ptr<Network> folded(std::shared_ptr<const Symmetry> symmetry) const override;

  protected:
    bool keeps(Rank) const override { return false; }

  private:
    std::int64_t place(Link link) const {
        return std::int64_t{link.from} * fabric_.torus().ports() + link.port.index;
    }

    const Fabric& fabric_;
    double rate_;
};

}  // namespace trefoil
